package docker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"sync"

	dockerapi "github.com/moby/moby/client"
	testcontainers "github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// engine is a Docker engine, through testcontainers.
type engine struct {
	provider *testcontainers.DockerProvider
	api      dockerapi.APIClient
	self     owner      // of what it makes
	host     string     // where the ports of containers are reached from here
	bind     netip.Addr // the address that they are bound to, on the engine's machine
	pool     *Pool      // of containers; nil: each is removed after its run
}

// configureLibrary configures testcontainers, once. It must not greet on standard
// error: the greeting uses only the library's global logger. It must not start its
// reaper, whose image would be pulled: lockcheck removes its containers, and leftovers.
// It ignores docker contexts.
var configureLibrary = sync.OnceValue(func() error {
	tclog.SetDefault(tclog.NewNoopLogger())
	url, err := engineURL(os.Getenv, dockerConfig())
	if err == nil && url != "" {
		err = os.Setenv("DOCKER_HOST", url)
	}
	return errors.Join(err, os.Setenv("TESTCONTAINERS_RYUK_DISABLED", "true"))
})

// open connects to the engine of DOCKER_HOST, or of the docker command's context, or of
// testcontainers' own settings.
func open(ctx context.Context) (*engine, error) {
	if err := configureLibrary(); err != nil {
		return nil, err
	}
	// testcontainers would ignore a DOCKER_HOST that does not answer, and use another
	// engine.
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		if err := ping(ctx); err != nil {
			return nil, fmt.Errorf("no Docker engine answers at DOCKER_HOST=%s: %w\n"+
				"Start it, or point DOCKER_HOST at one on this machine (as unix:///var/run/docker.sock)", host, err)
		}
	}
	p, err := testcontainers.NewDockerProvider(testcontainers.WithLogger(tclog.NewNoopLogger()))
	if err == nil {
		err = p.Health(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("no Docker engine answers: %w\n"+
			"Start one, or point DOCKER_HOST at one on this machine (as unix:///var/run/docker.sock)", err)
	}
	self, err := thisOwner()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("docker: %w", err), p.Close())
	}
	e := &engine{provider: p, api: p.Client(), self: self}
	e.host, e.bind = published(e.api.DaemonHost())
	return e, nil
}

// ping calls the engine that the environment variables name.
func ping(ctx context.Context) error {
	api, err := dockerapi.New(dockerapi.FromEnv)
	if err != nil {
		return err
	}
	defer api.Close()
	_, err = api.Ping(ctx, dockerapi.PingOptions{})
	return err
}

func (e *engine) close() error { return e.provider.Close() }

// Available returns an error if runs in Docker are impossible here. It says what to do
// about that.
func Available(ctx context.Context) error {
	e, err := open(ctx)
	if err != nil {
		return err
	}
	return e.close()
}
