package docker

import (
	"archive/tar"
	"bytes"
	"cmp"
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

// sources are the files from which the image is built, on a base image.
//
//go:embed Dockerfile powerloss/synced.c
var sources embed.FS

const (
	// BaseEnv is the environment variable with the base image of the servers' image;
	// default: DefaultBase.
	BaseEnv     = "LOCKCHECK_BASE_IMAGE"
	DefaultBase = "debian:bookworm-slim"

	imageRepo  = "lockcheck-servers"
	imageLabel = "lockcheck.image"
)

// baseImage returns the base of the servers' image.
func baseImage() string { return cmp.Or(os.Getenv(BaseEnv), DefaultBase) }

// builds prevents parallel builds of one image: the first to finish would remove an
// image that another has not named yet.
var builds sync.Mutex

// image returns the name of the servers' image. It builds the image if that is missing,
// and keeps it: its name depends on its sources. log gets messages about a pull and a
// build, and the last lines of a failed build.
func (e *engine) image(ctx context.Context, log io.Writer) (string, error) {
	builds.Lock()
	defer builds.Unlock()
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
	// A parallel build of the same image takes over its name.
	unnamed := make(dockerapi.Filters).Add("dangling", "true").Add("label", imageLabel)
	if _, err := e.api.ImagePrune(ctx, dockerapi.ImagePruneOptions{Filters: unnamed}); err != nil {
		fmt.Fprintf(log, "remove unnamed images: %v\n", err)
	}
	return name, nil
}

// pull fetches the base image if the engine's machine lacks it.
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
			case m.Progress == nil || m.Progress.Current == 0: // only a few of the many steps of a download
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

// colour matches the engine's mark for standard error.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// lastLines returns the relevant part of a failed build's log: its last 20 lines,
// indented, each cut to about two lines of a screen. The hundreds before list unpacked
// packages.
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

// imageOf returns the tag and the build context of the servers' image on a base image.
func imageOf(base string) (tag string, archive []byte, err error) {
	if archive, err = buildContext(); err != nil {
		return "", nil, err
	}
	sum := sha256.Sum256(append(bytes.Clone(archive), base...))
	return hex.EncodeToString(sum[:6]), archive, nil
}

// buildContext returns an archive of the sources. Same sources give the same bytes.
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
