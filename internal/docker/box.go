package docker

import "context"

// box is a container with one server in it. Its addresses and its files stay
// while the server comes and goes.
//
// Its methods return when what they ask for is so. It is used by one goroutine
// at a time.
type box struct {
	Addr string // on this machine
	Host string // for the others

	id     string
	engine *engine
}

// sh runs a shell script in the container.
func (b *box) sh(ctx context.Context, script string) error {
	return b.engine.exec(ctx, b.id, script, false)
}

// Kill ends the server's process at once, as kill -9 does; one that is down
// already stays so. What it had written the kernel still has.
func (b *box) Kill(ctx context.Context) error { return b.sh(ctx, killServer) }

// killServer is a script that kills the server, if there is one, and waits for
// its end.
const killServer = `if [ -e /data/pid ]; then kill -9 "$(cat /data/pid)" 2>/dev/null; ` + awaitEnd + ` && rm -f /data/pid; fi`

// Pause has the server's process stand still, until Continue. Its kernel still
// takes connections and what they bring.
func (b *box) Pause(ctx context.Context) error { return b.sh(ctx, stopped) }

// Continue ends Pause.
func (b *box) Continue(ctx context.Context) error {
	return b.sh(ctx, `kill -CONT "$(cat /data/pid)"`)
}

// cut drops all packets between the container and hosts, until Heal. It stays
// reachable from this machine, and no connection is told.
func (b *box) cut(ctx context.Context, hosts []string) error {
	return b.sh(ctx, dropping("lockcheck-cut", hosts))
}

// Heal takes back what cut this container off; what cuts others off from it
// stays. Those others take the server back by and by.
func (b *box) Heal(ctx context.Context) error { return b.sh(ctx, healed) }

// healed is a script that takes back all rules.
const healed = filter + "$ipt -w -F"
