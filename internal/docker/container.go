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

	"github.com/lockcheck/lockcheck/catalogue"
)

// create makes the container, as changes say, and publishes its port at addr.
// One that is made and does not start is removed.
func (e *engine) create(ctx context.Context, o owner, image, port string, changes ...func(*container.HostConfig)) (id, addr string, err error) {
	id, addrs, err := e.createWith(ctx, o, image, []string{port}, changes...)
	if err != nil {
		return "", "", err
	}
	return id, addrs[0], nil
}

// createWith is create with several ports.
func (e *engine) createWith(ctx context.Context, o owner, image string, ports []string, changes ...func(*container.HostConfig)) (id string, addrs []string, err error) {
	c, err := testcontainers.Run(ctx, image, asleep(image),
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

// asleep has the first process of a container only sleep, as that of ours does by
// itself.
func asleep(image string) testcontainers.CustomizeRequestOption {
	return func(r *testcontainers.GenericContainerRequest) error {
		if image == stockMySQL() {
			r.Entrypoint, r.Cmd = []string{"sleep"}, []string{"infinity"}
		}
		return nil
	}
}

// address is where other containers reach a container.
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

// ask runs a shell script in a container and returns what it wrote, up to
// maxOutput, with the engine's bytes around it that say where it wrote it.
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
		case state.Running: // the engine notes the end a little later than the stream's
			time.Sleep(time.Millisecond)
		case state.ExitCode != 0:
			return "", fmt.Errorf("%q in the container: exit status %d: %s", script, state.ExitCode, output)
		default:
			return output, nil
		}
	}
}

// maxOutput is how much of a script's output an error shows, in bytes.
const maxOutput = 4096

// readAll reads to the end, and keeps the beginning.
func readAll(r *bufio.Reader) (string, error) {
	var kept strings.Builder
	buf := make([]byte, 1024)
	for {
		n, err := r.Read(buf)
		if kept.Len() < maxOutput {
			kept.Write(buf[:n])
		}
		if ended(err) {
			return strings.TrimSpace(kept.String()), nil
		}
		if err != nil {
			return "", err
		}
	}
}

// prepare is what servers that are not of a run begin with: an engine, the owner
// of their containers, and the image for them.
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

// Redis starts a Redis server that nothing disturbs and that keeps nothing on
// disk, for tests of what talks to one. remove removes it.
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
	s.current().close() // to tell a feed takes a server half of its time, and nobody asks
	return addr, remove, nil
}
