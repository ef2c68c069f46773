package docker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/stores/mysql"
)

// reaches tells whether one that watched over the servers would reach s, by what was
// done to it.
func (p *primary) reaches(s *mysqld) bool { return s.serves() && !p.isolated(s.name) }

// orchestrate looks again and again at what was done to the servers, and acts on it.
func (p *primary) orchestrate() {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for reached := time.Now(); ; {
		select {
		case <-ticker.C:
			if p.reaches(p.leader()) {
				reached = time.Now()
			}
		case <-p.ctx.Done():
			return
		}
		if err := p.watch(time.Since(reached) >= p.downAfter); err != nil && p.ctx.Err() == nil {
			p.log("promote or join a MySQL server: %v", err)
		}
	}
}

// watch replaces the primary if it has been out of reach for so long, and has the others
// follow it: those that have been replaced begin with nothing. What fails is tried
// again the next time.
func (p *primary) watch(lost bool) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	if lost && !p.reaches(p.leader()) {
		p.promote(p.ctx)
	}
	first := p.leader()
	if !p.reaches(first) {
		return nil
	}
	if p.rises() {
		if err := p.detach(p.ctx, first); err != nil {
			return err
		}
		if err := p.leads(p.ctx, first); err != nil {
			return err
		}
	}
	var err error
	for _, s := range p.servers {
		switch {
		case s == first || !p.reaches(s):
		case s.isDeposed():
			err = errors.Join(err, p.rebuild(p.ctx, s))
		case s.follows != first:
			err = errors.Join(err, p.joins(p.ctx, s))
		}
	}
	return err
}

// promote gives the replica that was sent most of what the primary has done its
// place, if there is one. It is for good: what is detached cannot follow again.
func (p *primary) promote(ctx context.Context) {
	var best *mysqld
	most := int64(-1)
	for _, s := range p.servers {
		if s == p.leader() || !p.reaches(s) || s.isDeposed() {
			continue
		}
		if has, err := s.received(ctx); err == nil && has > most {
			best, most = s, has
		}
	}
	if best != nil { // else one may be reached later
		p.succeeds(best)
	}
}

// detach makes s follow nobody, when it has done all that it was sent. It may have been
// begun before.
func (p *primary) detach(ctx context.Context, s *mysqld) error {
	err := s.each(ctx, "STOP SLAVE IO_THREAD")
	if err == nil {
		err = await(ctx, s.name+" has done all that it was sent", func() (bool, error) {
			said, err := s.status(ctx)
			return err == nil && (said == nil || said["Slave_SQL_Running_State"] == idleReplica), err
		})
	}
	if err == nil {
		err = s.each(ctx, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0")
	}
	return err
}

// idleReplica is what a replica says that has executed all that it was sent.
const idleReplica = "Slave has read all relay log; waiting for more updates"

// joins has a server that answers follow the primary, and returns when it does.
func (p *primary) joins(ctx context.Context, s *mysqld) error {
	to := p.leader()
	s.follows = nil
	err := s.each(ctx, "SET GLOBAL read_only = 1", "STOP SLAVE",
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=3306, MASTER_USER='%s', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=0.5", to.Host, mysqlAdmin),
		"START SLAVE")
	if err != nil {
		return err
	}
	s.are(true, false)
	err = await(ctx, s.name+" follows "+to.name, func() (bool, error) {
		if !p.reaches(to) || !p.reaches(s) {
			return true, nil // it will, when they reach each other
		}
		said, err := s.status(ctx)
		return said["Slave_IO_Running"] == "Yes" && said["Slave_SQL_Running_State"] == idleReplica, err
	})
	if err == nil {
		s.follows = to
	}
	return err
}

// status is what a replica says of itself; nil: it is none.
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

// resumes starts the server that is still the primary. Replicas may have what it has
// lost, and begin anew with what it has.
func (p *primary) resumes(ctx context.Context, s *mysqld) error {
	err := s.launch(ctx)
	if anew := s.lost && len(p.servers) > 1; err == nil && anew {
		if err = s.fill(ctx); err == nil {
			err = s.relog(ctx)
		}
		defer func() { s.lost = err != nil }()
	}
	if err == nil {
		err = p.leads(ctx, s)
	}
	for _, o := range p.servers {
		if err == nil && s.lost && o != s && o.runs() {
			err = p.rebuild(ctx, o)
		}
	}
	return err
}

// relog has the log that replicas follow begin with what is in the tables: a server
// that was killed has kept more of its log than of those.
func (s *mysqld) relog(ctx context.Context) error {
	tables := []string{mysql.Table, auditTable}
	logged := []string{mysql.Schema, auditSchema()[0]}
	if !s.primary.rows.observes() {
		tables, logged = tables[:1], logged[:1]
	}
	const quietly, loudly = "SET sql_log_bin = 0", "SET sql_log_bin = 1"
	list := []string{quietly}
	for _, t := range tables {
		list = append(list, "RENAME TABLE "+t+" TO "+t+"_kept")
		logged = append(logged, "INSERT INTO "+t+" SELECT * FROM "+t+"_kept")
	}
	list = slices.Concat(list, []string{"RESET MASTER", loudly}, logged, []string{quietly})
	for _, t := range tables {
		list = append(list, "DROP TABLE "+t+"_kept") // and its triggers
	}
	return s.each(ctx, append(list, loudly)...)
}

// rebuild makes a server, which may run, a replica that has nothing of its own.
// One that has ended by itself stays missed.
func (p *primary) rebuild(ctx context.Context, s *mysqld) error {
	if s.runs() {
		if err := s.engine.lives(ctx, s.name, s.id); err != nil {
			return err
		}
	}
	s.are(false, false)
	if err := s.sh(ctx, killServer+"; rm -rf /data/mysql"); err != nil {
		return err
	}
	s.number = p.numbered()
	if err := s.launch(ctx); err != nil {
		return err
	}
	s.depose(false)
	return p.joins(ctx, s)
}
