package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// aliveLimit is how long it may take to find out whether a server lives: patience,
// as a run of which that is not known says nothing.
const aliveLimit = time.Minute

const (
	// born is what a script begins with that becomes a server's process: it notes
	// which one that is, by its number and the time of its start, in ticks.
	born = `read -r l </proc/$$/stat; set -- ${l##*) }; echo $$ "${20}" >/data/born
`
	// lives is a script that says gone where the process that was noted last is
	// no more. One that stands still lives; another in its place is not it.
	lives = `{ read -r p at </data/born && read -r l <"/proc/$p/stat" && set -- ${l##*) } &&
[ "$1" != Z ] && [ "${20}" = "$at" ]; } 2>/dev/null || echo gone`
)

// errGone is that a server's process has ended though nobody ended it, or is another
// one.
var errGone = errors.New("has ended, and no fault was to end it")

// Alive is nil where all servers live that were not stopped, in the processes that
// were started here. It is also for a run that was interrupted.
func (p *Place) Alive() error {
	ctx := context.WithoutCancel(p.ctx)
	return together(p.fars(), func(f far) error { return f.alive(ctx) })
}

// lives is an error where a server's process has ended or is another one, or that
// cannot be found out.
func (e *engine) lives(ctx context.Context, who, id string) error {
	ctx, cancel := context.WithTimeout(ctx, aliveLimit)
	defer cancel()
	said, err := e.ask(ctx, id, lives)
	switch {
	case err != nil:
		return fmt.Errorf("does %s live? %w", who, err)
	case strings.Contains(said, "gone"):
		return fmt.Errorf("%s %w", who, errGone)
	}
	return nil
}

// end ends a server by a script, which is the last thing that it hears. Where it is
// gone already nothing is done, and the error is errGone. It is asked for in the same
// breath: whoever is to lose power must not go on for as long as a question takes.
func (e *engine) end(ctx context.Context, who, id, script string) error {
	said, err := e.ask(ctx, id, `[ -z "$(`+lives+`)" ] || { echo gone; exit 0; }`+"\n"+script)
	switch {
	case err != nil:
		return fmt.Errorf("stop %s: %w", who, err)
	case strings.Contains(said, "gone"):
		return fmt.Errorf("%s %w", who, errGone)
	}
	return nil
}

// alive is far's.
func (s *server) alive(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if !s.isUp() {
		return nil
	}
	return s.engine.lives(ctx, s.name, s.id)
}

// alive is far's.
func (m *member) alive(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.runs() {
		return nil
	}
	return m.engine.lives(ctx, m.name, m.id)
}

// alive is far's: it is so where all servers live.
func (p *primary) alive(ctx context.Context) error {
	defer p.change()()
	return together(p.servers, func(s *mysqld) error {
		if !s.runs() {
			return nil
		}
		return s.engine.lives(ctx, s.name, s.id)
	})
}
