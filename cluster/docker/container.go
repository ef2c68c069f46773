package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	dockerapi "github.com/moby/moby/client"
	testcontainers "github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// create makes the container. One that is made and does not start is removed.
func (e *engine) create(ctx context.Context, o owner, image string) (id, addr string, err error) {
	c, err := testcontainers.Run(ctx, image,
		testcontainers.WithLogger(tclog.NewNoopLogger()),
		testcontainers.WithLabels(map[string]string{ownerLabel: o.String()}),
		testcontainers.WithExposedPorts(redisPort),
		testcontainers.WithHostConfigModifier(func(c *container.HostConfig) {
			c.PortBindings = network.PortMap{network.MustParsePort(redisPort): {{HostIP: netip.AddrFrom4([4]byte{127, 0, 0, 1})}}}
		}),
	)
	if c != nil {
		id = c.GetContainerID()
	}
	if err == nil {
		var port interface{ Port() string }
		if port, err = c.MappedPort(ctx, redisPort); err == nil {
			return id, net.JoinHostPort("127.0.0.1", port.Port()), nil
		}
	}
	if id != "" {
		err = errors.Join(err, e.remove(context.WithoutCancel(ctx), id))
	}
	hint := ""
	if strings.Contains(err.Error(), "reaper") {
		hint = "\nWithout a registry set TESTCONTAINERS_RYUK_DISABLED=true: what a dead run leaves, lockcheck removes itself"
	}
	return "", "", fmt.Errorf("start a container of %s: %w%s", image, err, hint)
}

// exec runs a shell script in a container. With detach it does not wait.
func (e *engine) exec(ctx context.Context, id, script string, detach bool) error {
	api := e.api
	x, err := api.ExecCreate(ctx, id, dockerapi.ExecCreateOptions{Cmd: []string{"sh", "-c", script}, AttachStdout: !detach, AttachStderr: !detach})
	if err != nil {
		return err
	}
	if detach {
		_, err = api.ExecStart(ctx, x.ID, dockerapi.ExecStartOptions{Detach: true})
		return err
	}
	stream, err := api.ExecAttach(ctx, x.ID, dockerapi.ExecAttachOptions{})
	if err != nil {
		return err
	}
	defer stream.Close()
	defer context.AfterFunc(ctx, stream.Close)()
	output, err := readAll(stream.Reader)
	if err != nil {
		return errors.Join(ctx.Err(), err)
	}
	for {
		state, err := api.ExecInspect(ctx, x.ID, dockerapi.ExecInspectOptions{})
		switch {
		case err != nil:
			return err
		case state.Running: // the engine notes the end a little later than the stream's
			time.Sleep(time.Millisecond)
		case state.ExitCode != 0:
			return fmt.Errorf("%q in the container: exit status %d: %s", script, state.ExitCode, output)
		default:
			return nil
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

// Redis starts a Redis server that nothing disturbs and that keeps nothing on
// disk, for tests of what talks to one. remove removes it.
func Redis(ctx context.Context, opts Options) (addr string, remove func(context.Context) error, err error) {
	self, err := thisOwner()
	if err != nil {
		return "", nil, err
	}
	e, err := open(ctx)
	if err != nil {
		return "", nil, err
	}
	log := &lockedWriter{w: opts.Log}
	image, err := e.image(ctx, log)
	if err != nil {
		return "", nil, errors.Join(err, e.close())
	}
	id, addr, err := e.create(ctx, self, image)
	if err != nil {
		return "", nil, errors.Join(err, e.close())
	}
	s := &server{name: serverName, engine: e, id: id, addr: addr, ledger: &ledger{log: log.printf}}
	remove = func(ctx context.Context) error {
		if f := s.current(); f != nil {
			f.close()
		}
		return errors.Join(e.remove(ctx, id), e.close())
	}
	if err := s.start(ctx); err != nil {
		return "", nil, errors.Join(err, remove(context.WithoutCancel(ctx)))
	}
	return addr, remove, nil
}
