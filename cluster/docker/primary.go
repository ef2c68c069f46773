package docker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/catalogue"
)

// primary is the MySQL server that clients reach, always at the same address, and
// its replicas. When it dies one of them takes its place, as behind an orchestrator
// that moves an address from one to the other.
type primary struct {
	name      string // what links call it: the first one's
	servers   []*mysqld
	rows      *rows
	downAfter time.Duration // for how long it is down before another takes its place
	cut       func()        // resets the connections of all clients
	log       func(format string, args ...any)
	ctx       context.Context
	stop      context.CancelFunc
	tasks     sync.WaitGroup

	reading sync.Mutex // one look at what was done at a time
	audit   audit

	mu       sync.Mutex
	numbers  int                // that servers have had so far
	first    *mysqld            // that clients reach
	sessions map[string][]int64 // by client: the numbers of its connections to it
}

// newPrimary makes the layout's servers, and returns when they serve and follow.
func (p *Place) newPrimary(self owner, image string) error {
	names := p.layout.MySQL
	x := &primary{
		name: names[0], rows: newRows(p.cfg.Names, names[0], p.observer, p.log.printf),
		downAfter: p.downAfter(), log: p.log.printf, sessions: map[string][]int64{},
		audit: audit{missing: map[int64]bool{}},
	}
	x.cut = func() { p.cutOff(x) }
	x.ctx, x.stop = context.WithCancel(p.ctx)
	if l := p.cfg.Lock.Lease; l != catalogue.LeaseFixed && l != catalogue.LeaseRenewed {
		x.rows.blind()
	}
	p.mysql = x
	for _, name := range names {
		x.servers = append(x.servers, &mysqld{
			engine: p.engine, name: name, number: x.numbered(), fsync: p.cfg.Server.Fsync, faked: p.fakes(name), primary: x,
		})
	}
	x.first = x.servers[0]
	err := together(x.servers, func(s *mysqld) error { return s.create(p.ctx, self, image, len(names) > 1) })
	if err != nil {
		return err
	}
	if err := x.start(p.ctx, x.first); err != nil {
		return err
	}
	if x.rows.observes() {
		x.tasks.Go(x.follow)
	}
	return together(x.servers[1:], func(s *mysqld) error { return x.start(p.ctx, s) })
}

// numbered is a server_id that no server has had: none takes from another what was
// done under its own.
func (p *primary) numbered() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.numbers++
	return p.numbers
}

// cutOff resets all connections of clients to a server.
func (p *Place) cutOff(f far) {
	for _, c := range p.clients {
		for _, l := range c.links {
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

// start starts a server: as the primary, or else as its replica, on what it has or
// on nothing at all if another has taken its place.
func (p *primary) start(ctx context.Context, s *mysqld) error {
	p.mu.Lock()
	leads := p.first == s
	p.mu.Unlock()
	if s.deposed {
		if err := s.engine.exec(ctx, s.id, "rm -rf /data/mysql", false); err != nil {
			return err
		}
		s.deposed = false
		s.number = p.numbered()
	}
	if err := s.launch(ctx); err != nil {
		return err
	}
	if !leads {
		return p.joins(ctx, s)
	}
	if err := s.fill(ctx); err != nil {
		return err
	}
	return p.lead(ctx, s)
}

// lead makes s the server that clients reach, once what it has is told.
func (p *primary) lead(ctx context.Context, s *mysqld) error {
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.rows.observes() {
		if err := p.look(ctx, s); err != nil {
			return err
		}
		found, err := rowsNow(ctx, s.db)
		if err != nil {
			return err
		}
		if p.audit, err = auditNow(ctx, s.db); err != nil {
			return err
		}
		p.rows.become(s.name, found)
	}
	p.mu.Lock()
	if p.first != s {
		p.first.deposed = true
	}
	p.first = s
	clear(p.sessions)
	p.mu.Unlock()
	s.are(true, false)
	return nil
}

// follow tells what is done, again and again and whenever somebody asks for it.
func (p *primary) follow() {
	timer := time.NewTicker(look)
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
		s := p.leader()
		var err error
		if s.runs() {
			err = p.look(p.ctx, s)
		}
		p.reading.Unlock()
		if err == nil || !s.runs() || p.ctx.Err() != nil {
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

// died cuts clients off from a server that is down, and has a replica take its
// place if it stays so.
func (p *primary) died(s *mysqld) {
	if p.leader() != s {
		return
	}
	p.cut()
	if len(p.servers) == 1 {
		return
	}
	p.tasks.Go(func() {
		select {
		case <-time.After(p.downAfter):
		case <-p.ctx.Done():
			return
		}
		s.changing.Lock()
		defer s.changing.Unlock()
		if s.runs() || p.leader() != s {
			return
		}
		if err := p.promote(p.ctx, s); err != nil && p.ctx.Err() == nil {
			p.log("nobody takes the place of %s: %v", s.name, err)
		}
	})
}

// promote has the replica that has most of what the old primary has done take its
// place, and the others follow it.
func (p *primary) promote(ctx context.Context, old *mysqld) error {
	var best *mysqld
	most := int64(-1)
	for _, s := range p.servers {
		if s == old || !s.serves() {
			continue
		}
		if has, err := s.received(ctx); err == nil && has > most {
			best, most = s, has
		}
	}
	if best == nil {
		return errors.New("no replica runs")
	}
	err := best.each(ctx, "STOP SLAVE IO_THREAD")
	if err == nil {
		err = await(ctx, best.name+" has done all that it was sent", func() (bool, error) {
			said, err := best.status(ctx)
			return said["Slave_SQL_Running_State"] == idleReplica, err
		})
	}
	if err == nil {
		err = best.each(ctx, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0")
	}
	if err == nil {
		err = p.lead(ctx, best)
	}
	if err != nil {
		return err
	}
	for _, s := range p.servers {
		if s != old && s != best && s.serves() {
			if err := p.joins(ctx, s); err != nil {
				p.log("%s does not follow %s: %v", s.name, best.name, err)
			}
		}
	}
	return nil
}

// idleReplica is what a replica says that has executed all that it was sent.
const idleReplica = "Slave has read all relay log; waiting for more updates"

// joins has a server that answers follow the primary, and returns when it does.
func (p *primary) joins(ctx context.Context, s *mysqld) error {
	to := p.leader()
	err := s.each(ctx, "SET GLOBAL read_only = 1", "STOP SLAVE",
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=3306, MASTER_USER='%s', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=0.5", to.peer, mysqlAdmin),
		"START SLAVE")
	if err != nil {
		return err
	}
	s.are(true, false)
	if !to.serves() {
		return nil // it will, when that comes back
	}
	return await(ctx, s.name+" follows "+to.name, func() (bool, error) {
		said, err := s.status(ctx)
		return said["Slave_IO_Running"] == "Yes" && said["Slave_SQL_Running_State"] == idleReplica || !to.serves(), err
	})
}

// status is what a replica says of itself.
func (s *mysqld) status(ctx context.Context) (map[string]string, error) {
	found, err := s.db.QueryContext(ctx, "SHOW SLAVE STATUS")
	if err != nil {
		return nil, err
	}
	defer found.Close()
	columns, err := found.Columns()
	if err != nil || !found.Next() {
		return nil, errors.Join(err, found.Err())
	}
	values := make([]sql.NullString, len(columns))
	fields := make([]any, len(columns))
	for i := range values {
		fields[i] = &values[i]
	}
	if err := found.Scan(fields...); err != nil {
		return nil, err
	}
	said := map[string]string{}
	for i, c := range columns {
		said[c] = values[i].String
	}
	return said, nil
}

// received is how much of what the primary has done a replica has been sent: the
// last part of the position.
func (s *mysqld) received(ctx context.Context) (int64, error) {
	said, err := s.status(ctx)
	if err != nil {
		return 0, err
	}
	at := said["Gtid_IO_Pos"]
	if at == "" {
		return 0, nil
	}
	return strconv.ParseInt(at[strings.LastIndex(at, "-")+1:], 10, 64)
}

// opened notes a connection of a client's.
func (p *primary) opened(client string, session int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sessions[client] = append(p.sessions[client], session)
}

// expire ends the connections of a client, as KILL does.
func (p *primary) expire(ctx context.Context, client string) error {
	p.mu.Lock()
	s, sessions := p.first, slices.Clone(p.sessions[client])
	p.mu.Unlock()
	if !s.runs() {
		return nil // they ended with it
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
