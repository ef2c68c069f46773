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

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// reaches reports whether an observer of the servers would reach s, according to the
// faults in force.
func (p *primary) reaches(s *mysqld) bool { return s.serves() && !p.isolated(s.name) }

// orchestrate checks the servers periodically and replaces an unreachable primary. A final
// error ends it: alive returns that.
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
		err := p.watch(time.Since(reached) >= p.downAfter)
		if err != nil && p.ctx.Err() == nil {
			p.log("promote or join a MySQL server: %v", err)
		}
		if _, over := errors.AsType[final](err); over {
			done := p.change()
			p.broken = err
			done()
			return
		}
	}
}

// watch replaces the primary if lost, and makes the others follow the primary. Former
// primaries start empty. It returns an error if something fails, and the next call
// tries again.
func (p *primary) watch(lost bool) error {
	p.changing.Lock()
	defer p.changing.Unlock()
	if lost && !p.reaches(p.leader()) {
		p.promote(p.ctx)
	}
	p.mu.Lock()
	first, rising := p.first, p.rising
	p.mu.Unlock()
	if !p.reaches(first) {
		return nil
	}
	if rising {
		if err := p.detach(p.ctx, first); err != nil {
			return err
		}
		if err := p.lead(p.ctx, first); err != nil {
			return err
		}
	}
	var err error
	for _, s := range p.servers {
		switch {
		case s == first || !p.reaches(s):
		case s.deposed.Load():
			err = errors.Join(err, p.rebuild(p.ctx, s))
		case s.follows != first:
			err = errors.Join(err, p.join(p.ctx, s))
		}
	}
	return err
}

// promote makes the replica with most of the primary's changes the new primary, if
// there is a replica. That is final: a detached server cannot follow again.
func (p *primary) promote(ctx context.Context) {
	var best *mysqld
	most := int64(-1)
	for _, s := range p.servers {
		if s == p.leader() || !p.reaches(s) || s.deposed.Load() {
			continue
		}
		if has, err := s.received(ctx); err == nil && has > most {
			best, most = s, has
		}
	}
	if best != nil { // otherwise one may be reached later
		p.replaceBy(best)
	}
}

// detach makes s follow no server, after it has applied all changes that it got. An
// earlier call may have done a part of it.
func (p *primary) detach(ctx context.Context, s *mysqld) error {
	err := s.each(ctx, "STOP SLAVE IO_THREAD")
	if err == nil {
		err = await(ctx, s.name+" has applied all changes that it got", func() (bool, error) {
			said, err := s.status(ctx)
			return err == nil && (said == nil || said["Slave_SQL_Running_State"] == idleReplica), err
		})
	}
	if err == nil {
		err = s.each(ctx, "STOP SLAVE", "RESET SLAVE ALL", "SET GLOBAL read_only = 0")
	}
	return err
}

// idleReplica is the status of a replica that has applied all changes that it got.
const idleReplica = "Slave has read all relay log; waiting for more updates"

// join makes a running server follow the primary, and returns when it does.
func (p *primary) join(ctx context.Context, s *mysqld) error {
	to := p.leader()
	s.follows = nil
	err := s.each(ctx, "SET GLOBAL read_only = 1", "STOP SLAVE",
		fmt.Sprintf("CHANGE MASTER TO MASTER_HOST='%s', MASTER_PORT=3306, MASTER_USER='%s', MASTER_USE_GTID=slave_pos, MASTER_CONNECT_RETRY=1, MASTER_HEARTBEAT_PERIOD=0.5", to.Host, mysqlAdmin),
		"START SLAVE")
	if err != nil {
		return err
	}
	s.setState(true, false)
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

// status returns the status of a replica; nil: s is not a replica. If the replica can
// apply no further change, the error is final.
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
	if why := said["Last_SQL_Error"]; why != "" && said["Slave_SQL_Running"] == "No" {
		return said, final{fmt.Errorf("%s has stopped its replication: %s", s.name, why)}
	}
	return said, nil
}

// received returns how many changes of the primary a replica has got: the last part of
// the position.
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

// restart starts the server that is still the primary. Replicas may have changes that
// it has lost, and are rebuilt then.
func (p *primary) restart(ctx context.Context, s *mysqld) error {
	err := s.launch(ctx)
	if anew := s.lost && len(p.servers) > 1; err == nil && anew {
		if err = s.fill(ctx); err == nil {
			err = s.relog(ctx)
		}
		defer func() { s.lost = err != nil }()
	}
	if err == nil {
		err = p.lead(ctx, s)
	}
	for _, o := range p.servers {
		if err == nil && s.lost && o != s && o.runs() {
			err = p.rebuild(ctx, o)
		}
	}
	return err
}

// relog rewrites the log for replicas from the tables: a killed server has kept more of
// its log than of its tables.
func (s *mysqld) relog(ctx context.Context) error {
	tables := []string{mysql.Table, auditTable}
	logged := []string{mysql.Schema, auditSchema(audited{})[0]}
	if r := s.primary.rows; !r.observes() || r.named != nil { // nothing is audited
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
		list = append(list, "DROP TABLE "+t+"_kept") // with its triggers
	}
	return s.each(ctx, append(list, loudly)...)
}

// rebuild makes a server, which may run, an empty replica. A server that has ended by
// itself stays reported by Alive.
func (p *primary) rebuild(ctx context.Context, s *mysqld) error {
	if err := s.livesIfUp(ctx); err != nil {
		return err
	}
	s.setState(false, false)
	if err := s.sh(ctx, killServer+"; rm -rf /data/mysql"); err != nil {
		return err
	}
	s.number = p.newNumber()
	if err := s.launch(ctx); err != nil {
		return err
	}
	s.deposed.Store(false)
	return p.join(ctx, s)
}
