package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/history"
	zkclient "github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
	"github.com/lockcheck/lockcheck/stores/zookeeper"
)

// ensemble is the ZooKeeper ensemble of a run.
type ensemble struct {
	servers *Ensemble
	members []*member
	nodes   *nodes
	learner *learner
	// cut tells whether a member is cut off from the others.
	cut    func(name string) bool
	stop   context.CancelFunc
	learns sync.WaitGroup
}

// member is a server of it, by the name that it has in the run.
type member struct {
	*ZooKeeperServer
	ensemble *ensemble
	name     string
	nodes    *nodes

	changing sync.Mutex // one start, stop, pause or resume at a time
	mu       sync.Mutex
	up       bool
	paused   bool
}

// startEnsemble starts the layout's ensemble, and returns when it answers and is
// listened to.
func (p *Place) startEnsemble(self owner, image string) error {
	g := newEnsemble(p.engine, len(p.layout.Ensemble))
	e := &ensemble{servers: g, nodes: newNodes(p.cfg.Names, p.observer, p.log.printf), cut: p.isCut}
	p.ensemble = e
	names := map[*ZooKeeperServer]string{}
	for i, s := range g.Servers {
		e.members = append(e.members, &member{ZooKeeperServer: s, ensemble: e, name: p.layout.Ensemble[i], nodes: e.nodes, up: true})
		names[s] = p.layout.Ensemble[i]
	}
	if err := g.start(p.ctx, self, image); err != nil {
		return err
	}
	if err := g.each(func(_ int, s *ZooKeeperServer) error { return s.warm(p.ctx) }); err != nil {
		return err
	}
	leader := ""
	e.learner = newLearner(g.Servers, func(s *ZooKeeperServer, t txn) {
		if last := leader; last != names[s] {
			if leader = names[s]; last != "" {
				p.observer.Server(history.Entry{Process: history.Process{Name: leader}, Type: history.Event, F: history.Promote, Text: last})
			}
		}
		e.nodes.commit(leader, t)
	})
	e.nodes.beyond = e.learner.beyond
	ctx, stop := context.WithCancel(p.ctx)
	e.stop = stop
	e.learns.Go(func() {
		if err := e.learner.follow(ctx); ctx.Err() == nil {
			e.nodes.drop("%v", err)
		}
	})
	select {
	case <-e.learner.ready:
		return nil
	case <-time.After(upLimit):
		return errors.Join(errors.New("docker: the leader of the ensemble takes no observer"), e.learner.refused())
	case <-p.ctx.Done():
		return p.ctx.Err()
	}
}

// warm has the server do what locks ask of it, again and again: a JVM takes many
// times as long for what it does first. Nothing of that stays.
func (s *ZooKeeperServer) warm(ctx context.Context) error {
	port := zookeeper.Port{Transport: zkclient.New(zkclient.Options{Addrs: []string{s.Addr}})}
	for range warmRounds {
		err := await(ctx, "an ensemble does what is asked of it", func() (bool, error) {
			err := round(ctx, port)
			return err == nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// round is a session, and a node in it.
func round(ctx context.Context, port zookeeper.Port) error {
	h, err := port.Open(ctx, upLimit, 20*Tick)
	if err != nil {
		return err
	}
	path, err := h.Create(ctx, upLimit, "/warm", "", zookeeper.Ephemeral|zookeeper.Sequential)
	if err == nil {
		_, _, errExists := h.Exists(ctx, upLimit, path, true)
		_, _, errData := h.GetData(ctx, upLimit, path, true)
		_, errList := h.GetChildren(ctx, upLimit, "/", true)
		err = errors.Join(errExists, errData, errList, h.Delete(ctx, upLimit, path, zookeeper.AnyVersion))
	}
	return errors.Join(err, h.Close(ctx, upLimit))
}

const warmRounds = 5

// remove ends listening, and removes the containers.
func (e *ensemble) remove(ctx context.Context) error {
	if e.stop != nil {
		e.stop()
	}
	e.learns.Wait()
	return e.servers.remove(ctx)
}

func (m *member) called() string { return m.name }

func (m *member) drop(format string, args ...any) { m.nodes.drop(format, args...) }

// reach is far's. The engine takes connections to a server that is down, too.
func (m *member) reach(ctx context.Context, client string) (*net.TCPConn, dialect, error) {
	if !m.runs() {
		return nil, nil, errDown
	}
	conn, err := (&net.Dialer{Timeout: feedLimit}).DialContext(ctx, "tcp", m.Addr)
	if err != nil {
		return nil, nil, err
	}
	return conn.(*net.TCPConn), &zookeeperTalk{nodes: m.nodes, client: client, replies: bufio.NewReader(conn)}, nil
}

func (m *member) runs() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.up
}

func (m *member) are(up, paused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.up, m.paused = up, paused
}

// pause is machine's.
func (m *member) pause(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.runs() {
		return fmt.Errorf("%s is down, and cannot stand still", m.name)
	}
	m.are(true, true)
	return m.Pause(ctx)
}

// resume is machine's.
func (m *member) resume(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	m.mu.Lock()
	paused := m.paused
	m.paused = false
	m.mu.Unlock()
	if !paused {
		return nil
	}
	if err := m.Continue(ctx); err != nil {
		return err
	}
	return m.ensemble.settled(ctx)
}

// stop ends the server's process. What it has answered is on its disk, so it ends
// in no better order than by a kill; with lose the disk is gone as well. One that
// has ended by itself cannot be stopped.
func (m *member) stop(ctx context.Context, lose bool) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.runs() {
		return nil
	}
	m.are(false, false)
	if err := m.engine.end(ctx, m.name, m.id, killServer); err != nil {
		m.are(errors.Is(err, errGone), false) // it is missed all the same
		return err
	}
	if lose {
		return m.sh(ctx, "rm -rf /data/version-2")
	}
	return nil
}

// start starts it again.
func (m *member) start(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if m.runs() {
		return nil
	}
	if err := m.launch(ctx); err != nil {
		return err
	}
	m.are(true, false)
	return m.ensemble.settled(ctx)
}

// settled returns when all members serve that run and reach the others, or there
// are too few of them.
func (e *ensemble) settled(ctx context.Context) error {
	return await(ctx, "an ensemble finds itself again", func() (bool, error) {
		able, serve := 0, 0
		for _, m := range e.members {
			m.mu.Lock()
			runs := m.up && !m.paused
			m.mu.Unlock()
			if !runs || e.cut(m.name) {
				continue
			}
			able++
			if said, err := m.status(ctx); err == nil && modeOf(said) != "" {
				serve++
			}
		}
		return able <= len(e.members)/2 || serve == able, nil
	})
}
