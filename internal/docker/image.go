package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/containerd/errdefs"
	dockerapi "github.com/moby/moby/client"
	testcontainers "github.com/testcontainers/testcontainers-go"
)

// sources are what the image is built from, beside another image.
//
//go:embed Dockerfile powerloss/synced.c
var sources embed.FS

const (
	// BaseEnv names the environment variable with the image that the image of
	// the servers is built from, where it is not DefaultBase.
	BaseEnv     = "LOCKCHECK_BASE_IMAGE"
	DefaultBase = "debian:bookworm-slim"

	imageRepo  = "lockcheck-servers"
	imageLabel = "lockcheck.image"
)

// baseImage is what the image of the servers is built from.
func baseImage() string {
	if base := os.Getenv(BaseEnv); base != "" {
		return base
	}
	return DefaultBase
}

// building keeps places that are made side by side from building an image several
// times: whichever was ready first removed what another had not named yet.
var building sync.Mutex

// image returns the name of the servers' image. It is built when it is
// missing, and kept: its name says what it was built from. log is told that the base
// is pulled and the image built, and of a build that fails its last lines.
func (e *engine) image(ctx context.Context, log io.Writer) (string, error) {
	building.Lock()
	defer building.Unlock()
	base := baseImage()
	tag, archive, err := imageOf(base)
	if err != nil {
		return "", err
	}
	name := imageRepo + ":" + tag
	switch _, err := e.api.ImageInspect(ctx, name); {
	case err == nil:
		return name, nil
	case !errdefs.IsNotFound(err):
		return "", fmt.Errorf("look for image %s: %w", name, err)
	}
	if err := e.pull(ctx, base, log); err != nil {
		return "", err
	}
	fmt.Fprintf(log, "building image %s from %s; this is done once, and takes a minute or two\n", name, base)
	var said bytes.Buffer
	build := &testcontainers.ContainerRequest{FromDockerfile: testcontainers.FromDockerfile{
		ContextArchive: bytes.NewReader(archive),
		Dockerfile:     "Dockerfile",
		Repo:           imageRepo,
		Tag:            tag,
		BuildArgs:      map[string]*string{"BASE": &base},
		KeepImage:      true,
		BuildLogWriter: &said,
		BuildOptionsModifier: func(o *dockerapi.ImageBuildOptions) {
			o.PullParent = false
			o.Remove, o.ForceRemove = true, true
			o.Labels = map[string]string{imageLabel: "servers"}
		},
	}}
	if _, err := e.provider.BuildImage(ctx, build); err != nil {
		fmt.Fprintf(log, "the build ended with\n%s", lastLines(said.String()))
		return "", fmt.Errorf("build image %s: %w", name, err)
	}
	// Who builds the same image at the same time takes its name over.
	unnamed := make(dockerapi.Filters).Add("dangling", "true").Add("label", imageLabel)
	if _, err := e.api.ImagePrune(ctx, dockerapi.ImagePruneOptions{Filters: unnamed}); err != nil {
		fmt.Fprintf(log, "remove unnamed images: %v\n", err)
	}
	return name, nil
}

// pull fetches the base image if it is not on the engine's machine.
func (e *engine) pull(ctx context.Context, base string, log io.Writer) error {
	_, err := e.api.ImageInspect(ctx, base)
	if err == nil {
		return nil
	}
	fmt.Fprintf(log, "pulling %s; this is done once\n", base)
	answer, err := e.api.ImagePull(ctx, base, dockerapi.ImagePullOptions{})
	if err == nil {
		for m, failed := range answer.JSONMessages(ctx) {
			switch {
			case failed != nil:
				err = failed
			case m.Error != nil:
				err = m.Error
			case m.Progress == nil || m.Progress.Current == 0: // not each of a hundred steps of a download
				fmt.Fprintf(log, "  %s\n", strings.TrimSpace(m.ID+" "+m.Status))
			}
		}
	}
	if err != nil {
		return fmt.Errorf("image %s, which the servers' image is built from, is not on this machine and cannot be pulled: %w\n"+
			"Where no registry answers, make debian:bookworm-slim with tools/base-image,\nor name another Debian 12 in %s", base, err, BaseEnv)
	}
	return nil
}

// colour is how the engine marks what a step wrote to its standard error.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// lastLines are what to read of a build that failed: twenty lines, indented, and of
// each what fits on two of a screen. The hundreds before them say which packages were
// unpacked.
func lastLines(log string) string {
	const most, wide = 20, 150
	var b strings.Builder
	lines := strings.FieldsFunc(colour.ReplaceAllString(log, ""), func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines[max(0, len(lines)-most):] {
		if r := []rune(line); len(r) > wide {
			line = string(r[:wide]) + " …"
		}
		fmt.Fprintf(&b, "    %s\n", line)
	}
	return b.String()
}

// imageOf is the servers' image that is built from another: its tag, and what goes
// into it.
func imageOf(base string) (tag string, archive []byte, err error) {
	if archive, err = buildContext(); err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(append(bytes.Clone(archive), base...))
	return hex.EncodeToString(sum[:6]), archive, nil
}

// buildContext is an archive of the sources. Same sources, same bytes.
func buildContext() ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := sources.ReadFile(path)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: path, Mode: 0o644, Size: int64(len(text))}); err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	return b.Bytes(), errors.Join(err, w.Close())
}
