package deploy_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// built returns the directory with the command for each system, as an image and a
// release have it.
var built = map[string]func() (dir string, err error){}

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "lockcheck-deploy-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, system := range []string{"linux", runtime.GOOS} {
		built[system] = sync.OnceValues(func() (string, error) { return build(filepath.Join(dir, system), system) })
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func build(dir, system string) (string, error) {
	cmd := exec.Command("go", "build", "-trimpath", "-o", dir+string(filepath.Separator), "./cmd/lockcheck")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build lockcheck for %s: %w\n%s", system, err, out)
	}
	return dir, nil
}

// lockcheck returns the directory with the command for a system.
func lockcheck(t *testing.T, system string) (dir string) {
	t.Helper()
	dir, err := built[system]()
	must(t, err)
	return dir
}

// do runs a command to its end.
func do(t *testing.T, cmd *exec.Cmd) (output string, code int) {
	t.Helper()
	killed := time.AfterFunc(3*time.Minute, func() { cmd.Process.Kill() })
	defer killed.Stop()
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// volumes returns directories that replace the volumes of the manifests. Any user may
// write to the results directory, as to a volume with an fsGroup.
func volumes(t *testing.T) map[string]string {
	t.Helper()
	dirs := map[string]string{"/suite": t.TempDir(), "/results": t.TempDir()}
	must(t, os.Chmod(dirs["/results"], 0o777))
	return dirs
}

// inAShell returns this machine as a place. Paths of volumes are replaced by
// directories.
func inAShell(t *testing.T) *place {
	t.Helper()
	dirs, path := volumes(t), lockcheck(t, runtime.GOOS)+string(os.PathListSeparator)+os.Getenv("PATH")
	here := strings.NewReplacer("/suite", dirs["/suite"], "/results", dirs["/results"])
	return &place{dirs, func(t *testing.T, file, index string, command ...string) (string, int) {
		t.Helper()
		_, c := podOf(t, file)
		words := c.words(command)
		for i := range words {
			words[i] = here.Replace(words[i])
		}
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = here.Replace(c.WorkingDir)
		cmd.Env = append(os.Environ(), "PATH="+path, "JOB_COMPLETION_INDEX="+index)
		return do(t, cmd)
	}}
}

// engine runs a docker command.
func engine(t *testing.T, words ...string) (output string, code int) {
	t.Helper()
	return do(t, exec.Command("docker", words...))
}

// image builds the image of the Dockerfile, without downloading anything, and removes
// it when the test is over.
func image(t *testing.T) (tag string) {
	t.Helper()
	tag = fmt.Sprintf("lockcheck-deploy-test:%d", os.Getpid())
	if out, code := engine(t, "build", "--network", "none", "-f", "kubernetes/Dockerfile", "-t", tag, lockcheck(t, "linux")); code != 0 {
		t.Fatalf("docker build: exit code %d\n%s", code, out)
	}
	t.Cleanup(func() {
		if out, code := engine(t, "image", "rm", tag); code != 0 {
			t.Errorf("remove %s: exit code %d\n%s", tag, code, out)
		}
	})
	return tag
}

// inTheImage returns the image as a place. Its container has only the rights that the
// manifest gives.
func inTheImage(t *testing.T, tag string) *place {
	t.Helper()
	dirs := volumes(t)
	p := &place{dirs, func(t *testing.T, file, index string, command ...string) (string, int) {
		t.Helper()
		pod, c := podOf(t, file)
		words := []string{
			"run", "--rm", "--network", "none", "--cap-drop", "ALL", "--security-opt", "no-new-privileges",
			"--user", fmt.Sprintf("%d:%d", pod.SecurityContext.RunAsUser, pod.SecurityContext.RunAsGroup),
			fmt.Sprintf("--read-only=%v", c.SecurityContext.ReadOnlyRootFilesystem), "--env", "JOB_COMPLETION_INDEX=" + index,
		}
		for _, m := range c.VolumeMounts {
			mount := dirs[m.MountPath] + ":" + m.MountPath
			if m.ReadOnly {
				mount += ":ro"
			}
			words = append(words, "--volume", mount)
		}
		if c.WorkingDir != "" {
			words = append(words, "--workdir", c.WorkingDir)
		}
		said := c.words(command)
		return engine(t, slices.Concat(words, []string{"--entrypoint", said[0], tag}, said[1:])...)
	}}
	t.Cleanup(func() {
		// Other users may be unable to remove the files of the image's user.
		p.run(t, "read.yaml", "", "sh", "-c", "rm -rf /results/*")
	})
	return p
}

// words returns the command line of a container, or the one that replaces it.
func (c *container) words(command []string) []string {
	if len(command) > 0 {
		return slices.Clone(command)
	}
	return slices.Concat(c.Command, c.Args)
}
