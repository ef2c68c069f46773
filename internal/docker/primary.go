package docker

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

// primary is the MySQL server that clients reach, always at the same address, and
// its replicas.
//
// What an operator has to watch over them is played here, by what this place has done
// to them: no server is asked whether it is there. When the primary has been down,
// stood still or been cut off from the others for downAfter, the replica which has
// been sent most, of those with which all is well, becomes the primary; the address
// leads there from then on, and connections that led elsewhere are reset. The old one
// is made a copy of the new one once all is well with it.
type primary struct {
	name      string // what links call it: the first one's
	servers   []*mysqld
	rows      *rows
	downAfter time.Duration
	cut       func()                 // resets the connections of all clients
	isolated  func(name string) bool // tells whether a server is cut off from the others
	log       func(format string, args ...any)
	ctx       context.Context
	stop      context.CancelFunc
	tasks     sync.WaitGroup

	changing sync.Mutex // one start, stop, pause, resume, jump or promotion at a time
	numbers  int        // that servers have had so far

	reading sync.Mutex // one look at what was done at a time
	audit   audit

	mu       sync.Mutex
	first    *mysqld // that clients reach
	rising   bool    // first is to take another's place, and nobody reaches it yet
	looking  context.Context
	away     context.CancelFunc // ends looking: what it asks may stand still
	sessions map[string][]int64 // by client: the numbers of its connections to first
}

// newPrimary makes the layout's servers, and returns when they serve and follow.
func (p *Place) newPrimary(self owner, image string) error {
	names := p.layout.MySQL
	x := &primary{
		name: names[0], rows: newRows(p.cfg.Names, names[0], p.observer, p.log.printf),
		downAfter: p.downAfter(), log: p.log.printf, sessions: map[string][]int64{},
		audit: audit{missing: map[int64]int64{}},
	}
	x.cut, x.isolated = func() { p.cutOff(x) }, p.isCut
	x.ctx, x.stop = context.WithCancel(p.ctx)
	x.looks()
	if l := p.cfg.Lock.Lease; l != catalogue.LeaseFixed && l != catalogue.LeaseRenewed {
		x.rows.blind()
	}
	p.mysql = x
	for _, name := range names {
		x.servers = append(x.servers, &mysqld{
			box: box{engine: p.engine}, name: name, number: x.numbered(), fsync: p.cfg.Server.Fsync, faked: p.fakes(name), primary: x,
		})
	}
	x.first = x.servers[0]
	err := together(x.servers, func(s *mysqld) error { return s.create(p.ctx, self, image, len(names) > 1) })
	if err == nil {
		err = together(x.servers, func(s *mysqld) error { return s.launch(p.ctx) })
	}
	if err == nil {
		err = x.leads(p.ctx, x.first)
	}
	if err == nil {
		err = together(x.servers[1:], func(s *mysqld) error { return x.joins(p.ctx, s) })
	}
	x.tasks.Go(x.follow)
	if len(names) > 1 {
		x.tasks.Go(x.orchestrate)
	}
	return err
}

// change begins a change of the servers, and what it returns ends it.
func (p *primary) change() (done func()) {
	p.changing.Lock()
	return p.changing.Unlock
}

// numbered is a server_id that no server has had: none takes from another what was
// done under its own.
func (p *primary) numbered() int {
	p.numbers++
	return p.numbers
}

// cutOff resets all connections of clients to a server.
func (p *Place) cutOff(f far) {
	for _, g := range p.programs {
		for _, l := range g.links {
			if l.far == f {
				l.cut()
			}
		}
	}
}

func (p *primary) called() string { return p.name }

func (p *primary) drop(format string, args ...any) { p.rows.drop(format, args...) }

// leader is the server that clients reach.
func (p *primary) leader() *mysqld {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first
}

// leads lets clients reach s, the primary, which follows nobody, once what it has is
// told.
func (p *primary) leads(ctx context.Context, s *mysqld) error {
	p.mu.Lock()
	p.away()
	p.mu.Unlock()
	p.reading.Lock()
	defer p.reading.Unlock()
	defer p.looks()
	if err := s.fill(ctx); err != nil {
		return err
	}
	var found map[string]mysql.Row
	if p.rows.observes() {
		err := p.look(ctx, s)
		if err == nil {
			found, err = rowsNow(ctx, s.db)
		}
		if err == nil {
			p.audit, err = auditNow(ctx, s.db)
		}
		if err != nil {
			return err
		}
	}
	p.rows.become(s.name, found)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rising = false
	clear(p.sessions)
	s.are(true, false)
	return nil
}

// rises tells whether the primary does not lead yet.
func (p *primary) rises() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rising
}

// succeeds gives s the place of the primary. Until s leads, clients reach nobody: the
// old one may still serve, and what it did from now on would never be told.
func (p *primary) succeeds(s *mysqld) {
	p.mu.Lock()
	p.first.depose(true)
	p.first, p.rising = s, true
	clear(p.sessions)
	p.mu.Unlock()
	p.cut()
}

// looks lets looking go on that was ended with away.
func (p *primary) looks() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.looking, p.away = context.WithCancel(p.ctx)
}

// follow tells what is done, again and again and whenever somebody asks for it.
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

// look tells what was done since the last look. It needs reading.
func (p *primary) look(ctx context.Context, s *mysqld) error {
	return p.rows.take(func() ([]auditLine, error) { return p.audit.read(ctx, s.db) })
}

// opened notes a connection of a client's.
func (p *primary) opened(reign int, client string, session int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.rising || reign != p.rows.now() {
		return // its server was replaced just now, or restarted
	}
	p.sessions[client] = append(p.sessions[client], session)
}

// expire ends the connections of a client, as KILL does.
func (p *primary) expire(ctx context.Context, client string) error {
	p.mu.Lock()
	s, sessions := p.first, slices.Clone(p.sessions[client])
	p.mu.Unlock()
	if !s.serves() {
		return nil // nobody hears of it
	}
	for _, id := range sessions {
		kill := fmt.Sprintf("KILL CONNECTION %d", id)
		var there int
		err := await(ctx, fmt.Sprintf("connection %d of %s ends", id, client), func() (bool, error) {
			err := s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE ID = ?", id).Scan(&there)
			if err == nil && there > 0 {
				s.db.ExecContext(ctx, kill) // it may end by itself at the same time
			}
			return there == 0, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// remove ends what goes on, and removes the containers.
func (p *primary) remove(ctx context.Context) error {
	p.stop()
	p.tasks.Wait()
	return together(p.servers, func(s *mysqld) error { return s.remove(ctx) })
}
