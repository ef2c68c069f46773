package docker

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	zkclient "github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
)

// ensemble is the ZooKeeper ensemble of a run.
type ensemble struct {
	servers *Ensemble
	members []*member
	nodes   *nodes
	learner *learner
	// cut reports whether a member is cut off from the others.
	cut    func(name string) bool
	stop   context.CancelFunc
	learns sync.WaitGroup
}

// member is one of its servers.
type member struct {
	*ZooKeeperServer
	ensemble *ensemble

	changing sync.Mutex // one start, stop, pause or resume at a time
}

// warm makes the server execute the commands of locks several times, because a JVM
// takes many times as long for the first calls. No data stays.
func (s *ZooKeeperServer) warm(ctx context.Context) error {
	port := zookeeper.Port{Transport: zkclient.New(zkclient.Options{Addrs: []string{s.Addr}})}
	for range warmRounds {
		err := await(ctx, "an ensemble executes commands", func() (bool, error) {
			err := round(ctx, port)
			return err == nil, err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// round opens a session, and creates and deletes a node in it.
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

// remove ends the learner, and removes the containers.
func (e *ensemble) remove(ctx context.Context) error {
	if e.stop != nil {
		e.stop()
	}
	e.learns.Wait()
	return e.servers.remove(ctx)
}

// Drop implements clients.Server.
func (m *member) Drop(format string, args ...any) { m.ensemble.nodes.Drop(format, args...) }

// Reach implements clients.Server. The engine accepts connections to a stopped server, too.
func (m *member) Reach(ctx context.Context, client string) (clients.Conn, clients.Dialect, error) {
	if !m.runs() {
		return nil, nil, clients.ErrDown
	}
	conn, err := (&net.Dialer{Timeout: feedLimit}).DialContext(ctx, "tcp", m.Addr)
	if err != nil {
		return nil, nil, err
	}
	return conn.(*net.TCPConn), &clients.ZooKeeper{Nodes: m.ensemble.nodes, Client: client, Replies: bufio.NewReader(conn)}, nil
}

// pause implements machine.
func (m *member) pause(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	return m.stand(ctx)
}

// resume implements machine.
func (m *member) resume(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.runs() || m.serves() {
		return nil
	}
	m.setState(true, false)
	if err := m.Continue(ctx); err != nil {
		return err
	}
	return m.ensemble.awaitSettled(ctx)
}

// stop ends the server's process with a kill, because all its answers are on its disk.
// With lose it removes the disk's data. A server that has ended by itself cannot be
// stopped.
func (m *member) stop(ctx context.Context, lose bool) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if !m.runs() {
		return nil
	}
	if err := m.endBy(ctx, killServer); err != nil {
		return err
	}
	if lose {
		return m.sh(ctx, "rm -rf /data/version-2")
	}
	return nil
}

// start starts the server again.
func (m *member) start(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	if m.runs() {
		return nil
	}
	if err := m.launch(ctx); err != nil {
		return err
	}
	m.setState(true, false)
	return m.ensemble.awaitSettled(ctx)
}

// awaitSettled returns when all running members serve and reach the others, or too few
// members run.
func (e *ensemble) awaitSettled(ctx context.Context) error {
	return await(ctx, "the members of an ensemble reconnect", func() (bool, error) {
		able, serve := 0, 0
		for _, m := range e.members {
			if !m.serves() || e.cut(m.name) {
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

// alive implements farServer.
func (m *member) alive(ctx context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	return m.livesIfUp(ctx)
}

// jump implements machine. No fault sets the clocks of an ensemble.
func (m *member) jump(ctx context.Context, by time.Duration) error { return m.moveClock(ctx, by, nil) }
