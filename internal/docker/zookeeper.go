package docker

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/clients"
)

// Ensemble is ZooKeeper servers, each in its own container: those of a run (ensemble),
// or others for tests, which only the caller disturbs.
type Ensemble struct {
	Servers []*ZooKeeperServer
	engine  *engine
}

// ZooKeeperServer is one server of an ensemble, in its own container.
type ZooKeeperServer struct {
	box
	quorum string // its address for followers while it leads, on this machine
}

const (
	zooKeeperPort = "2181/tcp"
	quorumPort    = "2888/tcp"
	// Tick is the ensemble's tick: sessions last for 2 to 20 ticks.
	Tick = 500 * time.Millisecond
)

// Sessions returns the limits of an ensemble's session timeouts. It adjusts a client's
// request to these limits.
func Sessions() (shortest, longest time.Duration) { return 2 * Tick, 20 * Tick }

// zooKeeperConfig is a server's configuration, without the list of all servers. A
// server that cannot follow the leader within initLimit ticks gives up. One without a
// message of the leader for syncLimit ticks starts an election.
const zooKeeperConfig = `tickTime=500
initLimit=20
syncLimit=4
dataDir=/data
clientPort=2181
maxClientCnxns=0
admin.enableServer=false
4lw.commands.whitelist=srvr
`

// zooKeeperScript starts a server with the command of the image.
const zooKeeperScript = storeBirth + "echo $$ >/data/pid; exec zookeeper /data/zoo.cfg >>/data/log 2>&1"

// ZooKeeper starts an ensemble of n servers, and returns when all answer. On error it
// removes them; otherwise Close does.
func ZooKeeper(ctx context.Context, n int, opts Options) (*Ensemble, error) {
	e, image, err := prepare(ctx, opts)
	if err != nil {
		return nil, err
	}
	g := newEnsemble(e, n)
	if err := g.start(ctx, image); err != nil {
		return nil, errors.Join(err, g.Close(context.WithoutCancel(ctx)))
	}
	return g, nil
}

func newEnsemble(e *engine, n int) *Ensemble {
	g := &Ensemble{engine: e}
	for range n {
		g.Servers = append(g.Servers, &ZooKeeperServer{box: box{engine: e, meets: true, inMemory: true}})
	}
	return g
}

// start makes all servers, and returns when they answer. On error remove removes what
// exists.
func (g *Ensemble) start(ctx context.Context, image string) error {
	err := clients.Together(g.Servers, func(s *ZooKeeperServer) error {
		addrs, err := s.create(ctx, image, zooKeeperPort, quorumPort)
		if err == nil {
			s.quorum = addrs[1]
		}
		return err
	})
	if err == nil {
		err = clients.Together(g.Servers, func(s *ZooKeeperServer) error { return g.configure(ctx, s) })
	}
	if err == nil {
		err = clients.Together(g.Servers, func(s *ZooKeeperServer) error { return s.Start(ctx) })
	}
	return err
}

// configure writes a server's files.
func (g *Ensemble) configure(ctx context.Context, s *ZooKeeperServer) error {
	var conf strings.Builder
	conf.WriteString(zooKeeperConfig)
	for k, o := range g.Servers {
		fmt.Fprintf(&conf, "server.%d=%s:2888:3888\n", k+1, o.Host)
	}
	return s.sh(ctx, fmt.Sprintf("echo %d >/data/myid; cat >/data/zoo.cfg <<'end'\n%send", slices.Index(g.Servers, s)+1, conf.String()))
}

// Close removes all containers.
func (g *Ensemble) Close(ctx context.Context) error {
	return errors.Join(g.remove(ctx), g.engine.close())
}

func (g *Ensemble) remove(ctx context.Context) error {
	return clients.Together(g.Servers, func(s *ZooKeeperServer) error { return s.remove(ctx) })
}

// Addrs returns the addresses of the servers on this machine.
func (g *Ensemble) Addrs() []string {
	var addrs []string
	for _, s := range g.Servers {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// Leader waits until one of the servers that answer leads, and returns it. A leader
// that was cut off may believe that it leads for syncLimit more ticks.
func (g *Ensemble) Leader(ctx context.Context) (leader *ZooKeeperServer, err error) {
	err = await(ctx, "an ensemble has a leader", func() (bool, error) {
		for _, s := range g.Servers {
			if said, err := s.status(ctx); err == nil && modeOf(said) == "leader" {
				leader = s
			}
		}
		return leader != nil, nil
	})
	return leader, err
}

// Restore restarts the ensemble with the data of snapshot, a file in ZooKeeper's format
// with the last transaction zxid. All other data is gone, including sessions. It
// returns when all servers serve clients.
func (g *Ensemble) Restore(ctx context.Context, zxid int64, snapshot []byte) error {
	script := fmt.Sprintf("%s && rm -rf /data/version-2 && mkdir /data/version-2 && base64 -d >/data/version-2/snapshot.%x <<'end'\n%s\nend",
		killServer, zxid, base64.StdEncoding.EncodeToString(snapshot))
	// All servers stop before the first one starts, which would learn from the others.
	err := clients.Together(g.Servers, func(s *ZooKeeperServer) error { return s.sh(ctx, script) })
	if err != nil {
		return err
	}
	return clients.Together(g.Servers, func(s *ZooKeeperServer) error { return s.Start(ctx) })
}

// Start starts the server on its files, and returns when it serves clients, which needs
// a majority of the servers.
func (s *ZooKeeperServer) Start(ctx context.Context) error {
	if err := s.launch(ctx); err != nil {
		return err
	}
	return s.Serves(ctx)
}

// launch starts the server, and returns when it answers. It may still look for a
// leader.
func (s *ZooKeeperServer) launch(ctx context.Context) error {
	if err := s.spawn(ctx, zooKeeperScript); err != nil {
		return err
	}
	return s.awaitStatus(ctx, "answers", func(said string) bool { return said != "" })
}

// Serves returns when the server serves clients. Its port is open before.
func (s *ZooKeeperServer) Serves(ctx context.Context) error {
	return s.awaitStatus(ctx, "serves clients", func(said string) bool { return modeOf(said) != "" })
}

// awaitStatus returns when so accepts the server's status.
func (s *ZooKeeperServer) awaitStatus(ctx context.Context, what string, so func(said string) bool) error {
	err := await(ctx, "a ZooKeeper server "+what, func() (bool, error) {
		said, err := s.status(ctx)
		return so(said), err
	})
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("%w\n%s", err, s.lastLog(ctx))
	}
	return err
}

// status returns the server's status; "": it does not answer.
func (s *ZooKeeperServer) status(ctx context.Context) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(time.Second))
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return "", err
	}
	said, err := io.ReadAll(conn)
	return string(said), err
}

// modeOf returns the mode in a server's status: leader or follower; "": it does not
// serve.
func modeOf(said string) string {
	_, mode, _ := strings.Cut(said, "\nMode: ")
	mode, _, _ = strings.Cut(mode, "\n")
	return mode
}
