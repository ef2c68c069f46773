package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// aliveLimit is how long a check of a server may take. It is long, because without its
// result a run proves nothing.
const aliveLimit = time.Minute

// errGone reports that a server's process ended without a fault, or is another one.
var errGone = errors.New("has ended, and no fault was to end it")

// lives returns an error if the server's process has ended or is another one, or if that
// cannot be found out.
func (b *box) lives(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, aliveLimit)
	defer cancel()
	return b.unlessGone(ctx, checkAlive, "does %s live? %w")
}

// livesIfUp is lives, unless a fault has stopped the server.
func (b *box) livesIfUp(ctx context.Context) error {
	if !b.runs() {
		return nil
	}
	return b.lives(ctx)
}

// endBy ends the server by a script. If the server has ended already, endBy returns
// errGone. One script does both: a server that is to lose power must not go on while it
// is checked.
func (b *box) endBy(ctx context.Context, script string) error {
	b.setState(false, false)
	err := b.unlessGone(ctx, `[ -z "$(`+checkAlive+`)" ] || { echo gone; exit 0; }`+"\n"+script, "stop %s: %w")
	if errors.Is(err, errGone) {
		b.setState(true, false) // Alive still reports it
	}
	return err
}

// unlessGone runs a script, and returns errGone if it prints "gone". failed is the
// format of another error.
func (b *box) unlessGone(ctx context.Context, script, failed string) error {
	said, err := b.ask(ctx, script)
	switch {
	case err != nil:
		return fmt.Errorf(failed, b.name, err)
	case strings.Contains(said, "gone"):
		return fmt.Errorf("%s %w", b.name, errGone)
	}
	return nil
}

// stand pauses the server's process, and records it.
func (b *box) stand(ctx context.Context) error {
	if !b.runs() {
		return fmt.Errorf("%s is down, and cannot be paused", b.name)
	}
	b.setState(true, true)
	return b.Pause(ctx)
}

// awaitAnswer waits until the server answers after its start.
func (b *box) awaitAnswer(ctx context.Context, ping func() error) error {
	for limit := time.Now().Add(upLimit); ; time.Sleep(5 * time.Millisecond) {
		err := ping()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case time.Now().After(limit):
			return fmt.Errorf("%s does not answer %v after its start: %w\n%s", b.name, upLimit, err, b.lastLog(ctx))
		}
	}
}

// lastLog returns the end of the server's log, for an error.
func (b *box) lastLog(ctx context.Context) string {
	err := b.sh(ctx, "tail -n 20 /data/log; exit 1")
	if err == nil {
		return ""
	}
	return err.Error()
}
