package docker

import "context"

// box is a container with one server in it. Its addresses and its files stay while the
// server stops and starts.
//
// Its methods return when their effect is there. One goroutine uses it at a time.
type box struct {
	Addr string // on this machine
	Host string // for other containers

	id     string
	engine *engine
}

// sh runs a shell script in the container.
func (b *box) sh(ctx context.Context, script string) error {
	return b.engine.exec(ctx, b.id, script, false)
}

// Kill kills the server's process with SIGKILL; without a process it does nothing.
// Written data stays in the kernel.
func (b *box) Kill(ctx context.Context) error { return b.sh(ctx, killServer) }

// killServer is a script that kills the server, if it runs, and waits for its end.
const killServer = `if [ -e /data/pid ]; then kill -9 "$(cat /data/pid)" 2>/dev/null; ` + awaitEnd + ` && rm -f /data/pid; fi`

// Pause stops the server's process until Continue. The kernel still accepts connections
// and data.
func (b *box) Pause(ctx context.Context) error { return b.sh(ctx, stopScript) }

// Continue ends Pause.
func (b *box) Continue(ctx context.Context) error {
	return b.sh(ctx, `kill -CONT "$(cat /data/pid)"`)
}

// cut drops all packets between the container and hosts, until Heal. This machine still
// reaches the container, and connections stay open.
func (b *box) cut(ctx context.Context, hosts []string) error {
	return b.sh(ctx, dropping("lockcheck-cut", hosts))
}

// Heal removes the rules of this container; rules of other containers stay. The others
// reconnect to the server after a while.
func (b *box) Heal(ctx context.Context) error { return b.sh(ctx, healScript) }

// healScript is a script that removes all rules.
const healScript = filter + "$ipt -w -F"
