package sim

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/porttest"
)

// The suite that compares the model of MySQL with a real server also checks the
// simulated environment: pools, connections and random latencies.
func TestMySQLConformance(t *testing.T) {
	porttest.Run(t, func(t *testing.T, o model.Options) porttest.World {
		p := &mysqlWorld{outsideWorld: newOuter(t, catalogue.StoreMySQL), options: o}
		p.databases.primary.model.Reset(o)
		p.process = p.newClient()
		return p
	})
}

// mysqlWorld is a porttest.World of a MySQL server.
type mysqlWorld struct {
	*outsideWorld
	options model.Options
	process *client   // the process whose pool Port uses
	idle    []*client // clients with closed sessions
}

// slack is the longest time for one statement on a new connection.
const slack = 4 * latencyMost

func (p *mysqlWorld) Slack() time.Duration { return slack }
func (p *mysqlWorld) Settle()              { p.Sleep(slack) }

func (p *mysqlWorld) Port() mysql.Port {
	return mysql.Port{Transport: outsidePool{p, (*mysqlTransport)(p.process)}}
}

func (p *mysqlWorld) Open() mysql.Handle {
	var c *client
	if last := len(p.idle) - 1; last >= 0 {
		c, p.idle = p.idle[last], p.idle[:last]
	} else {
		c = p.newClient()
	}
	s, err := outsidePool{p, (*mysqlTransport)(c)}.Open(context.Background(), time.Minute)
	must(p.t, err)
	return mysql.Handle{Session: s}
}

func (p *mysqlWorld) Start(h mysql.Handle, c mysql.Command) porttest.Call {
	s := h.Session.(outsideSession)
	k := &outsideCall{world: p}
	p.Go(func() {
		crashed := s.client.do(&env.Op{Index: 1}, history.Acquire, func() {
			k.reply, k.err = s.pinnedConn.Do(context.Background(), 24*time.Hour, c)
		})
		if k.done = true; crashed != nil {
			k.err = crashed
		}
	})
	p.Settle()
	return k
}

func (p *mysqlWorld) Drop(h mysql.Handle) { h.Session.(outsideSession).conn.sever() }
func (p *mysqlWorld) Silence(h mysql.Handle) {
	must(p.t, p.PowerOff(h.Session.(outsideSession).client.name))
}

func (p *mysqlWorld) Empty() {
	d := p.databases.primary
	d.server.hangUp()
	d.cutOff()
	d.model.Reset(p.options)
	p.Settle()
}

func (p *mysqlWorld) Restart() {
	must(p.t, p.Stop(catalogue.MySQLName, false))
	must(p.t, p.World.Start(catalogue.MySQLName))
	p.Settle()
}

func (p *mysqlWorld) ReadOnly(on bool) {
	if d := p.databases.primary; on {
		d.model.Follow()
	} else {
		d.model.Lead(d.clock())
	}
}

// outsideCall is a statement that a client executes while the test goes on.
type outsideCall struct {
	world *mysqlWorld
	reply mysql.Reply
	err   error
	done  bool
}

func (k *outsideCall) Answer(d time.Duration) (mysql.Reply, bool, error) {
	over := false
	k.world.After(d, func() { over = true })
	k.world.runUntil(func() bool { return k.done || over })
	return k.reply, k.done, k.err
}

// outsidePool is a pool that a test calls from outside of the simulation.
type outsidePool struct {
	world *mysqlWorld
	*mysqlTransport
}

func (o outsidePool) Do(ctx context.Context, timeout time.Duration, c mysql.Command) (r mysql.Reply, err error) {
	o.world.runOn((*client)(o.mysqlTransport), func() { r, err = o.mysqlTransport.Do(ctx, timeout, c) })
	return r, err
}

func (o outsidePool) Open(ctx context.Context, timeout time.Duration) (s mysql.Session, err error) {
	o.world.runOn((*client)(o.mysqlTransport), func() {
		if s, err = o.mysqlTransport.Open(ctx, timeout); err == nil {
			s = outsideSession{o.world, s.(*pinnedConn)}
		}
	})
	return s, err
}

// outsideSession is a session of an outsidePool.
type outsideSession struct {
	world *mysqlWorld
	*pinnedConn
}

func (s outsideSession) Do(ctx context.Context, timeout time.Duration, c mysql.Command) (r mysql.Reply, err error) {
	s.world.runOn(s.client, func() { r, err = s.pinnedConn.Do(ctx, timeout, c) })
	return r, err
}

func (s outsideSession) Return() { s.world.runOn(s.client, s.pinnedConn.Return) }

// Close of a session whose client has gone does nothing.
func (s outsideSession) Close() {
	if !s.client.dead && !s.over {
		s.world.runOn(s.client, s.pinnedConn.Close)
		s.world.idle = append(s.world.idle, s.client)
	}
}
