package docker

import (
	"context"
	"fmt"
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
