package docker

import (
	"context"
	"fmt"
	"time"

	dockerapi "github.com/moby/moby/client"
)

// box is a container with one server in it. Its addresses and its files stay while the
// server stops and starts.
//
// Its methods return when their effect is there. One goroutine at a time moves its clock.
type box struct {
	Addr string // on this machine
	Host string // for other containers; "": unused

	name      string     // of the server, for messages
	container *container // nil: none yet
	engine    *engine
	meets     bool          // other containers reach it, and it can drop their packets
	inMemory  bool          // its data is in memory: a server that syncs each transaction is slow on a shared disk
	faked     bool          // the server's clock can be set
	offset    time.Duration // of the server's clock
	state
}

// serverName implements farServer.
func (b *box) Name() string { return b.name }

// findHost sets Host.
func (b *box) findHost(ctx context.Context) error {
	id := b.container.id
	state, err := b.engine.api.ContainerInspect(ctx, id, dockerapi.ContainerInspectOptions{})
	if err != nil {
		return fmt.Errorf("look at container %s: %w", id, err)
	}
	for _, n := range state.Container.NetworkSettings.Networks {
		if n.IPAddress.IsValid() {
			b.Host = n.IPAddress.String()
			return nil
		}
	}
	return fmt.Errorf("container %s has no address that other containers reach", id)
}

// remove gives the container, if there is one, to the pool, or removes it.
func (b *box) remove(ctx context.Context) error {
	if b.container == nil || b.leave(ctx) {
		return nil
	}
	b.container.shells.close()
	return b.engine.remove(ctx, b.container.id)
}

// sh runs a shell script in the container.
func (b *box) sh(ctx context.Context, script string) error {
	_, err := b.ask(ctx, script)
	return err
}

// spawn starts a shell script in the container, and does not wait for its end.
func (b *box) spawn(ctx context.Context, script string) error {
	x, err := b.engine.api.ExecCreate(ctx, b.container.id, dockerapi.ExecCreateOptions{Cmd: []string{"sh", "-c", script}})
	if err != nil {
		return err
	}
	_, err = b.engine.api.ExecStart(ctx, x.ID, dockerapi.ExecStartOptions{Detach: true})
	return err
}

// ask runs a shell script in the container and returns its output, up to maxOutput.
func (b *box) ask(ctx context.Context, script string) (string, error) {
	s, err := b.takeShell(ctx)
	if err != nil {
		return "", err
	}
	output, status, err := s.run(ctx, script)
	if err != nil {
		s.close()
		return "", err
	}
	b.container.shells.put(s)
	if status != 0 {
		return "", fmt.Errorf("%q in the container: exit status %d: %s", script, status, output)
	}
	return output, nil
}

// Kill kills the server's process with SIGKILL; without a process it does nothing.
// Written data stays in the kernel.
func (b *box) Kill(ctx context.Context) error { return b.sh(ctx, killServer) }

// Pause stops the server's process until Continue. The kernel still accepts connections
// and data.
func (b *box) Pause(ctx context.Context) error { return b.sh(ctx, stopScript) }

// Continue ends Pause.
func (b *box) Continue(ctx context.Context) error {
	return b.sh(ctx, `kill -CONT "$(cat /data/pid)"`)
}

// Heal removes the rules of this container; rules of other containers stay. The others
// reconnect to the server after a while.
func (b *box) Heal(ctx context.Context) error { return b.sh(ctx, healScript) }

// moveClock moves the server's wall clock, and returns when the server shows the new
// time. shows is nil if the server will only see it later.
func (b *box) moveClock(ctx context.Context, by time.Duration, shows func() (time.Duration, error)) error {
	if !b.faked {
		return fmt.Errorf("the clock of %s cannot be set: no jump was planned when it was started", b.name)
	}
	b.offset += by
	err := b.sh(ctx, setOffset(b.offset))
	if err == nil && shows != nil {
		err = await(ctx, "the clock shows its new time", func() (bool, error) {
			at, err := shows()
			if err != nil {
				return false, err // its connection may be changing
			}
			off := at - time.Duration(time.Now().UnixNano()) - b.offset
			return off.Abs() < jumpExact, nil
		})
	}
	if err != nil {
		return fmt.Errorf("jump of %s: %w", b.name, err)
	}
	return nil
}

// jumpExact is the tolerance of a set clock: the travel time of the question and its
// answer.
const jumpExact = 100 * time.Millisecond
