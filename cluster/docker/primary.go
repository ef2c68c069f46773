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
// its replicas.
//
// What watches over them is what an operator has for that. When it has not reached
// the primary for downAfter, because that is down, stands still or is cut off from
// the others, the replica which has been sent most, of those that it reaches,
// becomes the primary; the address leads there from then on, and connections that
// led elsewhere are reset. The old one is made a copy of the new one once it is
// reached.
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
		audit: audit{missing: map[int64]bool{}},
	}
	x.cut, x.isolated = func() { p.cutOff(x) }, p.isCut
	x.ctx, x.stop = context.WithCancel(p.ctx)
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

// resumes starts the server that is still the primary.
func (p *primary) resumes(ctx context.Context, s *mysqld) error {
	if err := s.launch(ctx); err != nil {
		return err
	}
	if err := p.leads(ctx, s); err != nil || !s.lost {
		return err
	}
	s.lost = false
	for _, o := range p.servers { // which may have what it has lost
		if o != s && o.runs() {
			if err := p.rebuild(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// rebuild makes a server, which may run, a replica that has nothing of its own.
func (p *primary) rebuild(ctx context.Context, s *mysqld) error {
	s.are(false, false)
	if err := s.sh(ctx, killServer+"; rm -rf /data/mysql"); err != nil {
		return err
	}
	s.depose(false)
	s.number = p.numbered()
	if err := s.launch(ctx); err != nil {
		return err
	}
	return p.joins(ctx, s)
}

// leads makes s, which follows nobody, the server that clients reach, once what it
// has is told.
func (p *primary) leads(ctx context.Context, s *mysqld) error {
	p.mu.Lock()
	if p.away != nil {
		p.away()
	}
	p.mu.Unlock()
	p.reading.Lock()
	defer p.reading.Unlock()
	if err := s.fill(ctx); err != nil {
		return err
	}
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
	defer p.mu.Unlock()
	if p.first != s {
		p.first.depose(true)
	}
	p.first = s
	p.looking, p.away = context.WithCancel(p.ctx)
	clear(p.sessions)
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
		p.mu.Lock()
		s, ctx := p.first, p.looking
		p.mu.Unlock()
		var err error
		if s.runs() {
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

// reaches tells whether the one that watches over the servers reaches s.
func (p *primary) reaches(s *mysqld) bool { return s.serves() && !p.isolated(s.name) }

// orchestrate watches over the servers.
func (p *primary) orchestrate() {
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	for reached := time.Now(); ; {
		select {
		case now := <-ticker.C:
			if p.reaches(p.leader()) {
				reached = now
			}
		case <-p.ctx.Done():
			return
		}
		if err := p.watch(time.Since(reached) >= p.downAfter); err != nil && p.ctx.Err() == nil {
			p.log("the one that watches over the MySQL servers: %v", err)
		}
	}
}

// watch replaces the primary if it has been silent for so long, and makes a replica
// of each that has been replaced.
func (p *primary) watch(silent bool) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	if first := p.leader(); silent && !p.reaches(first) {
		if err := p.promote(p.ctx, first); err != nil {
			return err
		}
	}
	for _, s := range p.servers {
		if s.isDeposed() && p.reaches(s) && p.reaches(p.leader()) {
			return p.rebuild(p.ctx, s)
		}
	}
	return nil
}

// promote has the replica that was sent most of what the old primary has done take
// its place, if there is one, and the others follow it.
func (p *primary) promote(ctx context.Context, old *mysqld) error {
	var best *mysqld
	most := int64(-1)
	for _, s := range p.servers {
		if s == old || !p.reaches(s) || s.isDeposed() {
			continue
		}
		if has, err := s.received(ctx); err == nil && has > most {
			best, most = s, has
		}
	}
	if best == nil {
		return nil // one may be reached later
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
		p.cut()
		err = p.leads(ctx, best)
	}
	for _, s := range p.servers {
		if err == nil && s != old && s != best && s.serves() {
			err = p.joins(ctx, s)
		}
	}
	return err
}

// idleReplica is what a replica says that has executed all that it was sent.
const idleReplica = "Slave has read all relay log; waiting for more updates"

// joins has a server that answers follow the primary, and returns when it does.
func (p *primary) joins(ctx context.Context, s *mysqld) error {
	to := p.leader()
	err := s.each(ctx, "SET GLOBAL read_only = 1", "STOP SLAVE",
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=3306, MASTER_USER='%s', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=0.5", to.Host, mysqlAdmin),
		"START SLAVE")
	if err != nil {
		return err
	}
	s.are(true, false)
	return await(ctx, s.name+" follows "+to.name, func() (bool, error) {
		if !p.reaches(to) || !p.reaches(s) {
			return true, nil // it will, when they reach each other
		}
		said, err := s.status(ctx)
		return said["Slave_IO_Running"] == "Yes" && said["Slave_SQL_Running_State"] == idleReplica, err
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
func (p *primary) opened(to *mysqld, client string, session int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to != p.first {
		return // it was replaced just now
	}
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
