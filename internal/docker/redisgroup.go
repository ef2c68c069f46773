package docker

import (
	"context"
	"errors"
	"net"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/clients"
)

// Group is Redis servers outside of a run, each in its own container, for tests of
// several servers. They are not observed, and only the caller disturbs them.
type Group struct {
	Members []*Member
	engine  *engine
}

// Member is one server of a group, in its own container. It is stopped at first.
type Member struct {
	box
	Port string // at Host
}

// RedisGroup makes n containers with stopped servers. On error it removes them;
// otherwise Close does.
func RedisGroup(ctx context.Context, n int, opts Options) (*Group, error) {
	e, image, err := prepare(ctx, opts)
	if err != nil {
		return nil, err
	}
	g := &Group{engine: e}
	for range n {
		g.Members = append(g.Members, &Member{box: box{engine: e, name: "a server", meets: n > 1}, Port: port})
	}
	err = clients.Together(g.Members, func(m *Member) error {
		_, err := m.create(ctx, image, redisPort)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, g.Close(context.WithoutCancel(ctx)))
	}
	return g, nil
}

// Close removes all containers.
func (g *Group) Close(ctx context.Context) error {
	return errors.Join(clients.Together(g.Members, func(m *Member) error { return m.remove(ctx) }), g.engine.close())
}

// Start starts the server on its files, with additional arguments of redis-server.
// Without any it keeps nothing on disk.
func (m *Member) Start(ctx context.Context, args ...string) error {
	return m.StartBy(ctx, "exec redis-server "+redisFlags+` --save "" `+quote(args), func() error {
		_, err := m.Do("PING")
		return err
	})
}

// StartBy starts a server by a script, which ends with its exec. answers returns an error unless
// the server answers.
func (m *Member) StartBy(ctx context.Context, script string, answers func() error) error {
	if err := m.spawn(ctx, script); err != nil {
		return err
	}
	return m.awaitAnswer(ctx, answers)
}

// Wipe resets m to its first state: it kills the server, and removes its files and its
// network rules.
func (m *Member) Wipe(ctx context.Context) error {
	return m.sh(ctx, killServer+" && rm -rf /data/* && { "+healScript+"; }")
}

// Cut drops all packets between m and the others, until Heal. This machine still
// reaches m, and connections stay open. It replaces an earlier Cut.
func (m *Member) Cut(ctx context.Context, others ...*Member) error {
	var hosts []string
	for _, o := range others {
		hosts = append(hosts, o.Host)
	}
	return m.sh(ctx, dropping("lockcheck-cut", hosts))
}

// Do executes one command on the server, on a new connection, and returns the raw
// reply. An error reply is an error.
func (m *Member) Do(words ...string) (string, error) { return doAt(m.Addr, words...) }

// Peer returns the server's address for the others, as host:port.
func (m *Member) Peer() string { return net.JoinHostPort(m.Host, m.Port) }

// Redis starts a Redis server without disturbances and without a disk, for tests and
// measurements. It has the flags of a run's server. remove removes it.
func Redis(ctx context.Context, opts Options) (addr string, remove func(context.Context) error, err error) {
	g, err := RedisGroup(ctx, 1, opts)
	if err != nil {
		return "", nil, err
	}
	s := g.Members[0]
	s.name = catalogue.RedisName
	if err := s.Start(ctx, "--notify-keyspace-events", "EA"); err != nil {
		return "", nil, errors.Join(err, g.Close(context.WithoutCancel(ctx)))
	}
	return s.Addr, g.Close, nil
}
