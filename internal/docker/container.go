package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	dockerapi "github.com/moby/moby/client"
	testcontainers "github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// create makes a container with these changes, and publishes its port at addr. If the
// container does not start, it is removed.
func (e *engine) create(ctx context.Context, o owner, image, port string, changes ...func(*container.HostConfig)) (id, addr string, err error) {
	id, addrs, err := e.createWith(ctx, o, image, []string{port}, changes...)
	if err != nil {
		return "", "", err
	}
	return id, addrs[0], nil
}

// createWith is create with several ports.
func (e *engine) createWith(ctx context.Context, o owner, image string, ports []string, changes ...func(*container.HostConfig)) (id string, addrs []string, err error) {
	c, err := testcontainers.Run(ctx, image, sleepOnly(image),
		testcontainers.WithLogger(tclog.NewNoopLogger()),
		testcontainers.WithLabels(map[string]string{ownerLabel: o.String()}),
		testcontainers.WithExposedPorts(ports...),
		testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
			c.PortBindings = network.PortMap{}
			for _, port := range ports {
				c.PortBindings[network.MustParsePort(port)] = []network.PortBinding{{HostIP: e.bind}}
			}
			for _, change := range changes {
				change(c)
			}
		}),
	)
	if c != nil {
		id = c.GetContainerID()
	}
	for i := 0; i < len(ports) && err == nil; i++ {
		var mapped interface{ Port() string }
		if mapped, err = c.MappedPort(ctx, ports[i]); err == nil {
			addrs = append(addrs, net.JoinHostPort(e.host, mapped.Port()))
		}
	}
	if err == nil {
		return id, addrs, nil
	}
	if id != "" {
		err = errors.Join(err, e.remove(context.WithoutCancel(ctx), id))
	}
	return "", nil, fmt.Errorf("start a container of %s: %w", image, err)
}

// sleepOnly makes the first process of a container only sleep, as our own image does.
func sleepOnly(image string) testcontainers.CustomizeRequestOption {
	return func(r *testcontainers.GenericContainerRequest) error {
		if image == stockMySQL() {
			r.Entrypoint, r.Cmd = []string{"sleep"}, []string{"infinity"}
		}
		return nil
	}
}

// address returns the address of a container for other containers.
func (e *engine) address(ctx context.Context, id string) (string, error) {
	state, err := e.api.ContainerInspect(ctx, id, dockerapi.ContainerInspectOptions{})
	if err != nil {
		return "", fmt.Errorf("look at container %s: %w", id, err)
	}
	for _, n := range state.Container.NetworkSettings.Networks {
		if n.IPAddress.IsValid() {
			return n.IPAddress.String(), nil
		}
	}
	return "", fmt.Errorf("container %s has no address that other containers reach", id)
}

// exec runs a shell script in a container. With detach it does not wait.
func (e *engine) exec(ctx context.Context, id, script string, detach bool) error {
	if !detach {
		_, err := e.ask(ctx, id, script)
		return err
	}
	x, err := e.api.ExecCreate(ctx, id, dockerapi.ExecCreateOptions{Cmd: []string{"sh", "-c", script}})
	if err != nil {
		return err
	}
	_, err = e.api.ExecStart(ctx, x.ID, dockerapi.ExecStartOptions{Detach: true})
	return err
}

// ask runs a shell script in a container and returns its output, up to maxOutput,
// including the engine's frame bytes.
func (e *engine) ask(ctx context.Context, id, script string) (string, error) {
	api := e.api
	x, err := api.ExecCreate(ctx, id, dockerapi.ExecCreateOptions{Cmd: []string{"sh", "-c", script}, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return "", err
	}
	stream, err := api.ExecAttach(ctx, x.ID, dockerapi.ExecAttachOptions{})
	if err != nil {
		return "", err
	}
	defer stream.Close()
	defer context.AfterFunc(ctx, stream.Close)()
	output, err := readAll(stream.Reader)
	if err != nil {
		return "", errors.Join(ctx.Err(), err)
	}
	for {
		state, err := api.ExecInspect(ctx, x.ID, dockerapi.ExecInspectOptions{})
		switch {
		case err != nil:
			return "", err
		case state.Running: // the engine notices the end after that of the stream
			time.Sleep(time.Millisecond)
		case state.ExitCode != 0:
			return "", fmt.Errorf("%q in the container: exit status %d: %s", script, state.ExitCode, output)
		default:
			return output, nil
		}
	}
}

// maxOutput is how many bytes of a script's output an error shows.
const maxOutput = 4096

// readAll reads to the end, and returns the first maxOutput bytes.
func readAll(r *bufio.Reader) (string, error) {
	var kept strings.Builder
	buf := make([]byte, 1024)
	for {
		n, err := r.Read(buf)
		if kept.Len() < maxOutput {
			kept.Write(buf[:n])
		}
		if isCleanEnd(err) {
			return strings.TrimSpace(kept.String()), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// prepare opens the engine and finds the owner and the image, for servers outside of
// runs.
func prepare(ctx context.Context, opts Options) (e *engine, self owner, image string, err error) {
	if self, err = thisOwner(); err != nil {
		return nil, self, "", err
	}
	if e, err = open(ctx); err != nil {
		return nil, self, "", err
	}
	if image, err = e.image(ctx, &lockedWriter{w: opts.Log}); err != nil {
		return nil, self, "", errors.Join(err, e.close())
	}
	return e, self, image, nil
}

// Redis starts a Redis server without disturbances and without a disk, for tests.
// remove removes it.
func Redis(ctx context.Context, opts Options) (addr string, remove func(context.Context) error, err error) {
	e, self, image, err := prepare(ctx, opts)
	if err != nil {
		return "", nil, err
	}
	id, addr, err := e.create(ctx, self, image, redisPort)
	if err != nil {
		return "", nil, errors.Join(err, e.close())
	}
	s := &server{name: catalogue.RedisName, engine: e, id: id, addr: addr, ledger: &ledger{log: (&lockedWriter{w: opts.Log}).printf}}
	s.command = storeCommand(catalogue.FsyncNone)
	remove = func(ctx context.Context) error {
		return errors.Join(e.remove(ctx, id), e.close())
	}
	if err := s.start(ctx); err != nil {
		return "", nil, errors.Join(err, remove(context.WithoutCancel(ctx)))
	}
	s.current().close() // the feed takes half of a server's time, and is not needed here
	return addr, remove, nil
}
