package docker

import (
	"context"
	"fmt"
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
}

// quiet keeps testcontainers from greeting on standard error: the greeting
// knows no other logger than the library's one for everybody.
var quiet = sync.OnceFunc(func() { tclog.SetDefault(tclog.NewNoopLogger()) })

// open connects to the engine that DOCKER_HOST, or testcontainers' own
// settings, name.
func open(ctx context.Context) (*engine, error) {
	quiet()
	// testcontainers would pass over a DOCKER_HOST that does not answer, and
	// take another engine than the one that was asked for.
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
	return &engine{provider: p, api: p.Client()}, nil
}

// ping asks the engine that the environment names.
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

// Available tells why runs cannot take place in Docker here; nil: they can.
// The message says what to do about it.
func Available(ctx context.Context) error {
	e, err := open(ctx)
	if err != nil {
		return err
	}
	return e.close()
}
