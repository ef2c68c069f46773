package bubble

import (
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
	"github.com/lockcheck/lockcheck/internal/userlock"
)

// Front implements sim.Outside.
func (w *World) Front(server string) sim.Front {
	f := w.fronts[server]
	if f == nil {
		f = w.newFront(server)
		w.fronts[server] = f
	}
	return f
}

func (w *World) newFront(server string) *front {
	f := &front{name: server}
	f.server.Lua = w.lua
	if len(w.layout.Sentinels) > 0 {
		f.server.Follows = func() (host, port string, follows bool) {
			master := w.MasterOf(server)
			host, port = w.split(master)
			return host, port, master != server
		}
	}
	return f
}

// front is the protocol of a Redis server.
type front struct {
	name   string
	server wire.Server
}

func (f *front) Open() any { return new(wire.Conn) }

func (f *front) Do(conn any, apply func(redis.Command) redis.Reply, words []string) ([]byte, error) {
	answer := f.server.Do(conn.(*wire.Conn), apply, words)
	if missing := f.server.Missing(); missing != "" {
		return nil, lacks(strings.ToUpper(missing), f.name)
	}
	return answer, nil
}

// lacks is the error of a request that a model cannot serve.
func lacks(request, server string) error {
	return &userlock.Misuse{Words: fmt.Sprintf("%s: the model of this server has no %s: run with -lockcheck.on=docker", server, request)}
}

func (f *front) Blocked(conn any) (request int, timeout time.Duration) {
	return f.server.Blocked(conn.(*wire.Conn))
}

func (f *front) Timeout(conn any) []byte { return f.server.Timeout(conn.(*wire.Conn)) }

func (f *front) Pushes(send func(conn any, data []byte, answer bool)) {
	for _, p := range f.server.Pushes() {
		send(p.Conn, p.Data, p.Answer)
	}
}

func (f *front) Changed(key string) { f.server.Changed(key) }

func (f *front) Drop(conn any) { f.server.Drop(conn.(*wire.Conn)) }
func (f *front) Restart()      { f.server.Restart() }

// split returns the host and the port of a server.
func (w *World) split(server string) (host, port string) {
	host, port, _ = net.SplitHostPort(w.addr(server))
	return host, port
}

// listen gives each server an address.
func (w *World) listen() {
	w.layout = catalogue.NewLayout(&w.cfg.Lock, w.cfg.Server, w.cfg.Options)
	for i, name := range w.layout.Servers() {
		port := 6379
		switch {
		case slices.Contains(w.layout.Sentinels, name):
			port = 26379
		case slices.Contains(w.layout.Ensemble, name):
			port = 2181
		}
		w.names[fmt.Sprintf("10.0.0.%d:%d", i+1, port)] = name
		if port == 26379 {
			w.sentinels[name] = newSentinel(w, name)
		}
		w.addrs[name] = fmt.Sprintf("10.0.0.%d:%d", i+1, port)
	}
}

// addr returns the address of a server.
func (w *World) addr(server string) string { return w.addrs[server] }

// addrsOf returns the addresses of servers.
func (w *World) addrsOf(servers []string) (addrs []string) {
	for _, name := range servers {
		addrs = append(addrs, w.addr(name))
	}
	return addrs
}
