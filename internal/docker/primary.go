package docker

import (
	"bufio"
	"context"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// primary is the MySQL server that clients reach, always at the same address, with its
// replicas.
//
// It also plays the operator's orchestrator. It knows the faults in force, and never
// asks a server whether it lives. When the primary has been down, paused or cut off for
// downAfter, the healthy replica with the most changes becomes the primary. The address
// then leads to it, and older connections are reset. The old primary becomes a copy of
// the new one when it is healthy again.
type primary struct {
	name      string // the name for links: the first server's
	servers   []*mysqld
	rows      *rows
	downAfter time.Duration
	cut       func()                 // resets the connections of all clients
	isolated  func(name string) bool // reports whether a server is cut off from the others
	log       func(format string, args ...any)
	ctx       context.Context
	stop      context.CancelFunc
	tasks     sync.WaitGroup

	changing sync.Mutex // one start, stop, pause, resume, jump or promotion at a time
	numbers  int        // the last server_id
	broken   error      // no server is replaced any more

	reading sync.Mutex // one read of the audit at a time
	audit   audit

	mu       sync.Mutex
	first    *mysqld // the server that clients reach
	rising   bool    // first is being promoted, and no client reaches it yet
	looking  context.Context
	away     context.CancelFunc // ends looking: the server that it asks may be paused
	sessions map[string][]int64 // by client: the numbers of its connections to first
}

// change begins a change of the servers; done ends it.
func (p *primary) change() (done func()) {
	p.changing.Lock()
	return p.changing.Unlock
}

// newNumber returns a new server_id. A rebuilt server gets one too, so that it does not
// claim its old changes.
func (p *primary) newNumber() int {
	p.numbers++
	return p.numbers
}

func (p *primary) Name() string { return p.name }

// Drop implements clients.Server.
func (p *primary) Drop(format string, args ...any) { p.rows.drop(format, args...) }

// leader returns the server that clients reach.
func (p *primary) leader() *mysqld {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first
}

// lead makes s, the primary, reachable for clients, after its data is reported.
func (p *primary) lead(ctx context.Context, s *mysqld) error {
	p.mu.Lock()
	p.away()
	p.mu.Unlock()
	p.reading.Lock()
	defer p.reading.Unlock()
	defer p.resumeLooking()
	if err := s.fill(ctx); err != nil {
		return err
	}
	var found map[string]mysql.Row
	if p.rows.observes() && p.rows.named == nil {
		err := p.look(ctx, s)
		if err == nil {
			found, err = rowsNow(ctx, s.db, p.rows.of)
		}
		if err == nil {
			p.audit, err = auditNow(ctx, s.db)
		}
		switch {
		case err != nil && p.rows.of.table == "":
			return err
		case err != nil: // the worker's table is gone, or is another one now
			p.rows.drop("%v", err)
		}
	}
	p.rows.become(s.name, found)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rising = false
	clear(p.sessions)
	s.setState(true, false)
	return nil
}

// declare makes the primary report the rows of the table, or the named locks, that a
// worker declares. names are the locks by these names.
func (p *primary) declare(ctx context.Context, entries []worker.Entry, names map[string]string) error {
	if !slices.ContainsFunc(entries, func(e worker.Entry) bool { return !e.MySQL.GetLock }) {
		p.reading.Lock()
		defer p.reading.Unlock()
		p.rows.declareNamed(names)
		p.tasks.Go(p.follow)
		return nil
	}
	if len(entries) != 1 {
		return nil
	}
	m := entries[0].MySQL
	of, s := audited{m.Table, m.Key, m.Owner}, p.leader()
	if err := s.each(ctx, auditSchema(of)...); err != nil {
		return &env.ProtocolError{Misuse: "the table has to be there when init is answered: " + err.Error()}
	}
	p.reading.Lock()
	defer p.reading.Unlock()
	a, err := auditNow(ctx, s.db)
	if err != nil {
		return err
	}
	p.audit = a
	p.rows.declare(of)
	p.tasks.Go(p.follow)
	return nil
}

// replaceBy makes s the next primary. Until s leads, clients reach no server: the old
// one may still serve, and its further changes would never be reported.
func (p *primary) replaceBy(s *mysqld) {
	p.mu.Lock()
	p.first.deposed.Store(true)
	p.first, p.rising = s, true
	clear(p.sessions)
	p.mu.Unlock()
	p.cut()
}

// resumeLooking starts a new context for reads of the audit, after away has ended the old one.
func (p *primary) resumeLooking() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looking, p.away = context.WithCancel(p.ctx)
}

// follow reports changes periodically and on request.
func (p *primary) follow() {
	timer := time.NewTicker(lookEvery)
	defer timer.Stop()
	for failing := time.Duration(0); p.rows.observes(); {
		since := time.Now()
		select {
		case <-timer.C:
		case <-p.rows.nudge:
		case <-p.ctx.Done():
			return
		}
		p.reading.Lock()
		p.mu.Lock()
		s, ctx, rising := p.first, p.looking, p.rising
		p.mu.Unlock()
		var err error
		if s.runs() && !rising {
			err = p.look(ctx, s)
		}
		p.reading.Unlock()
		if err == nil || !s.runs() || ctx.Err() != nil {
			failing = 0
		} else if failing += time.Since(since); failing > upLimit {
			p.rows.drop("%v", err)
		}
	}
}

// look reports the changes since the last look. The caller holds reading.
func (p *primary) look(ctx context.Context, s *mysqld) error {
	if p.rows.named != nil {
		return p.rows.takeNamed(ctx, s.db)
	}
	return p.rows.take(func() ([]auditLine, error) { return p.audit.read(ctx, s.db) })
}

// opened records a connection of a client.
func (p *primary) opened(reign int, client string, session int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rising || reign != p.rows.now() {
		return // its server has just been replaced, or restarted
	}
	p.sessions[client] = append(p.sessions[client], session)
}

// expire ends the connections of a client. A server that does not serve cannot end them.
func (p *primary) expire(ctx context.Context, client string) error {
	p.mu.Lock()
	s, sessions := p.first, slices.Clone(p.sessions[client])
	p.mu.Unlock()
	return s.kill(ctx, sessions...)
}

// remove ends the tasks, and removes the containers.
func (p *primary) remove(ctx context.Context) error {
	p.stop()
	p.tasks.Wait()
	return clients.Together(p.servers, func(s *mysqld) error { return s.remove(ctx) })
}

// Reach implements clients.Server. A command is assigned to its operation before it is sent,
// and an answer waits until the server's events are reported, whatever happens to it.
func (p *primary) Reach(ctx context.Context, client string) (clients.Conn, clients.Dialect, error) {
	p.mu.Lock()
	s, rising, reign := p.first, p.rising, p.rows.now()
	p.mu.Unlock()
	if rising || !s.runs() {
		return nil, nil, clients.ErrDown
	}
	conn, err := (&net.Dialer{Timeout: feedLimit}).DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return nil, nil, err
	}
	var read reader
	return conn.(*net.TCPConn), &clients.MySQL{
		Replies: bufio.NewReader(conn),
		Greeted: func(session int64, err error) {
			if err != nil {
				p.rows.drop("the greeting of the server to %s is %v", client, err)
			}
			p.opened(reign, client, session)
		},
		Sends: func(op int64, command []byte, effect bool) func(int64) {
			c := read.command(op, command, effect)
			return func(session int64) { p.rows.addCommand(reign, session, c, clients.ChangesRows(command)) }
		},
		Answered: func(session int64, packets []byte) error {
			if packets != nil {
				p.rows.answer(reign, session, packets)
			}
			if !p.rows.await(ctx.Done(), reign, p.rows.ask()) {
				return clients.ErrDown
			}
			return nil
		},
	}, nil
}

// alive implements farServer. All MySQL servers must live.
func (p *primary) alive(ctx context.Context) error {
	defer p.change()()
	if p.broken != nil {
		return p.broken
	}
	return clients.Together(p.servers, func(s *mysqld) error { return s.livesIfUp(ctx) })
}
