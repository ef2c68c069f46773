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

const (
	// storeBirth is the first line of a script that becomes a server's process. It stores the
	// process's number and its start time, in ticks.
	storeBirth = `read -r l </proc/$$/stat; set -- ${l##*) }; echo $$ "${20}" >/data/born
`
	// checkAlive is a script that prints "gone" unless the stored process still exists. A
	// stopped process counts as existing; another process with its number does not.
	checkAlive = `{ read -r p at </data/born && read -r l <"/proc/$p/stat" && set -- ${l##*) } &&
[ "$1" != Z ] && [ "${20}" = "$at" ]; } 2>/dev/null || echo gone`
)

// errGone reports that a server's process ended without a fault, or is another one.
var errGone = errors.New("has ended, and no fault was to end it")

// Alive returns an error unless all servers that no fault stopped still live, in their
// original processes. It also works in an interrupted run.
func (p *Environment) Alive() error {
	ctx := context.WithoutCancel(p.ctx)
	return together(p.farServers(), func(f farServer) error { return f.alive(ctx) })
}

// lives returns an error if a server's process has ended or is another one, or if that
// cannot be found out.
func (e *engine) lives(ctx context.Context, who, id string) error {
	ctx, cancel := context.WithTimeout(ctx, aliveLimit)
	defer cancel()
	said, err := e.ask(ctx, id, checkAlive)
	switch {
	case err != nil:
		return fmt.Errorf("does %s live? %w", who, err)
	case strings.Contains(said, "gone"):
		return fmt.Errorf("%s %w", who, errGone)
	}
	return nil
}

// end ends a server by a script. If the server has ended already, end returns errGone.
// One script does both: a server that is to lose power must not go on while it is
// checked.
func (e *engine) end(ctx context.Context, who, id, script string) error {
	said, err := e.ask(ctx, id, `[ -z "$(`+checkAlive+`)" ] || { echo gone; exit 0; }`+"\n"+script)
	switch {
	case err != nil:
		return fmt.Errorf("stop %s: %w", who, err)
	case strings.Contains(said, "gone"):
		return fmt.Errorf("%s %w", who, errGone)
	}
	return nil
}

// alive implements farServer.
func (s *server) alive(ctx context.Context) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	if !s.isUp() {
		return nil
	}
	return s.engine.lives(ctx, s.name, s.id)
}

// alive implements farServer.
func (m *member) alive(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.runs() {
		return nil
	}
	return m.engine.lives(ctx, m.name, m.id)
}

// alive implements farServer. All MySQL servers must live.
func (p *primary) alive(ctx context.Context) error {
	defer p.change()()
	return together(p.servers, func(s *mysqld) error {
		if !s.runs() {
			return nil
		}
		return s.engine.lives(ctx, s.name, s.id)
	})
}
