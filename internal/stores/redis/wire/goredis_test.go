package wire_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
)

func TestMain(m *testing.M) {
	goredis.SetLogger(new(logging.VoidLogger)) // it would report failovers on stderr
	goleak.VerifyTestMain(m)
}

// listener serves front ends on connections in memory.
type listener struct {
	mu       sync.Mutex
	ends     map[string]*frontEnd       // by address
	sentinel *wire.Sentinel             // at the other addresses
	boxes    map[*wire.Conn]chan []byte // messages to be written
}

func (l *listener) dial(_ context.Context, _, addr string) (net.Conn, error) {
	client, server := net.Pipe()
	go l.serve(server, l.ends[addr])
	return client, nil
}

func (l *listener) serve(conn net.Conn, end *frontEnd) {
	defer conn.Close()
	c, box := new(wire.Conn), make(chan []byte, 100)
	defer close(box)
	go func() { // a client writes a whole pipeline before it reads
		for b := range box {
			if _, err := conn.Write(b); err != nil {
				break
			}
		}
	}()
	l.mu.Lock()
	l.boxes[c] = box
	l.mu.Unlock()
	var p wire.Parser
	buf := make([]byte, 4096)
	for !c.Closed() {
		n, err := conn.Read(buf)
		if err != nil {
			break
		}
		p.Feed(buf[:n])
		l.answer(end, c, &p)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.boxes, c)
	if end != nil {
		end.server.Drop(c)
	}
}

// answer serves all whole requests.
func (l *listener) answer(end *frontEnd, c *wire.Conn, p *wire.Parser) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		words, ok, err := p.Next()
		if err != nil {
			l.boxes[c] <- fmt.Appendf(nil, "-%v\r\n", err)
		}
		if !ok {
			return
		}
		if end == nil {
			l.boxes[c] <- l.sentinel.Do(c, words)
			continue
		}
		l.boxes[c] <- end.server.Do(c, end.apply, words)
		for _, push := range end.server.Pushes() {
			l.boxes[push.Conn] <- push.Data
		}
	}
}

// client returns a client of go-redis on a new front end.
func client(t *testing.T, protocol int) (*goredis.Client, *frontEnd) {
	end := newFrontEnd()
	l := &listener{ends: map[string]*frontEnd{"127.0.0.1:6379": end}, boxes: map[*wire.Conn]chan []byte{}}
	c := goredis.NewClient(&goredis.Options{Addr: "127.0.0.1:6379", Dialer: l.dial, Protocol: protocol})
	t.Cleanup(func() { c.Close() })
	return c, end
}

func TestGoRedis(t *testing.T) {
	for _, protocol := range []int{2, 3} {
		t.Run(fmt.Sprint("RESP ", protocol), func(t *testing.T) {
			for name, test := range map[string]func(*testing.T, *goredis.Client){
				"commands": testCommands, "scripts": testScripts, "pipelines": testPipelines,
				"transactions": testTransactions, "messages": testMessages,
			} {
				t.Run(name, func(t *testing.T) {
					c, end := client(t, protocol)
					test(t, c)
					if m := end.server.Missing(); m != "" {
						t.Errorf("missing: %s", m)
					}
				})
			}
		})
	}
}

// result fails the test unless a call returned want and no error.
func result[T comparable](t *testing.T, want T) func(T, error) {
	return func(got T, err error) {
		t.Helper()
		if got != want || err != nil {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	}
}

func testCommands(t *testing.T, c *goredis.Client) {
	ctx := t.Context()
	result(t, true)(c.SetNX(ctx, "k", "v", 30*time.Second).Result())
	result(t, false)(c.SetNX(ctx, "k", "w", 30*time.Second).Result())
	result(t, 30*time.Second)(c.PTTL(ctx, "k").Result())
	result(t, "v")(c.Get(ctx, "k").Result())
	result(t, "OK")(c.Set(ctx, "k", "w", goredis.KeepTTL).Result())
	result(t, 30*time.Second)(c.TTL(ctx, "k").Result())
	result(t, true)(c.Expire(ctx, "k", time.Minute).Result())
	result(t, int64(1))(c.Del(ctx, "k").Result())
	if err := c.Get(ctx, "k").Err(); !errors.Is(err, goredis.Nil) {
		t.Errorf("GET of a missing key: %v", err)
	}
	result(t, int64(2))(c.HSet(ctx, "h", "a", 1, "b", 2).Result())
	result(t, int64(3))(c.HIncrBy(ctx, "h", "a", 2).Result())
	if all, err := c.HGetAll(ctx, "h").Result(); err != nil || len(all) != 2 || all["a"] != "3" {
		t.Errorf("HGETALL: %v, %v", all, err)
	}
	result(t, "PONG")(c.Ping(ctx).Result())
	if _, err := c.Time(ctx).Result(); err != nil {
		t.Error(err)
	}
}

func testScripts(t *testing.T, c *goredis.Client) {
	ctx := t.Context()
	release := goredis.NewScript(`if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) else return 0 end`)
	if err := release.EvalSha(ctx, c, []string{"k"}, "v").Err(); err == nil || !goredis.HasErrorPrefix(err, "NOSCRIPT") {
		t.Errorf("EVALSHA of an unknown script: %v", err)
	}
	c.Set(ctx, "k", "v", 0)
	result(t, int64(0))(release.Run(ctx, c, []string{"k"}, "w").Int64())
	result(t, int64(1))(release.Run(ctx, c, []string{"k"}, "v").Int64())
	result(t, int64(0))(release.RunRO(ctx, c, []string{"k"}, "v").Int64())
	if loaded, err := release.Exists(ctx, c).Result(); err != nil || !loaded[0] {
		t.Errorf("SCRIPT EXISTS: %v, %v", loaded, err)
	}
}

func testPipelines(t *testing.T, c *goredis.Client) {
	ctx := t.Context()
	var got [3]*goredis.StringCmd
	_, err := c.Pipelined(ctx, func(p goredis.Pipeliner) error {
		for i := range got {
			p.Set(ctx, fmt.Sprint("k", i), i, time.Minute)
		}
		for i := range got {
			got[i] = p.Get(ctx, fmt.Sprint("k", i))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range got {
		result(t, fmt.Sprint(i))(g.Result())
	}
}

func testTransactions(t *testing.T, c *goredis.Client) {
	ctx := t.Context()
	var n *goredis.IntCmd
	if _, err := c.TxPipelined(ctx, func(p goredis.Pipeliner) error {
		p.Set(ctx, "n", 41, 0)
		n = p.Incr(ctx, "n")
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	result(t, int64(42))(n.Result())
	add := func(meanwhile func()) error {
		return c.Watch(ctx, func(tx *goredis.Tx) error {
			n, err := tx.Get(ctx, "n").Int()
			if err != nil {
				return err
			}
			meanwhile()
			_, err = tx.TxPipelined(ctx, func(p goredis.Pipeliner) error { return p.Set(ctx, "n", n+1, 0).Err() })
			return err
		}, "n")
	}
	if err := add(func() { c.Set(ctx, "n", 1, 0) }); !errors.Is(err, goredis.TxFailedErr) {
		t.Errorf("a transaction after a change: %v", err)
	}
	if err := add(func() {}); err != nil {
		t.Error(err)
	}
	result(t, "2")(c.Get(ctx, "n").Result())
}

func testMessages(t *testing.T, c *goredis.Client) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s := c.Subscribe(ctx, "freed")
	defer s.Close()
	if _, err := s.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	result(t, int64(1))(c.Publish(ctx, "freed", "k").Result())
	m, err := s.ReceiveMessage(ctx)
	if err != nil || m.Channel != "freed" || m.Payload != "k" {
		t.Errorf("got %v, %v", m, err)
	}
}

// A client of Sentinels finds the master, and follows it when it changes.
func TestGoRedisWithSentinel(t *testing.T) {
	port := "1"
	l := &listener{
		ends: map[string]*frontEnd{"127.0.0.1:1": newFrontEnd(), "127.0.0.1:2": newFrontEnd()},
		sentinel: &wire.Sentinel{
			Name:      "mymaster",
			Master:    func() (host, p string) { return "127.0.0.1", port },
			Replicas:  func() [][2]string { return [][2]string{{"127.0.0.1", "2"}} },
			Sentinels: func() [][2]string { return [][2]string{{"127.0.0.1", "4"}} },
		},
		boxes: map[*wire.Conn]chan []byte{},
	}
	c := goredis.NewFailoverClient(&goredis.FailoverOptions{
		MasterName: "mymaster", SentinelAddrs: []string{"127.0.0.1:3"}, Dialer: l.dial,
	})
	t.Cleanup(func() { c.Close() })
	ctx := t.Context()
	result(t, "OK")(c.Set(ctx, "k", "v", 0).Result())

	// The client subscribes in the background.
	for told := 0; told == 0; {
		l.mu.Lock()
		port = "2"
		for conn, box := range l.boxes {
			if b := l.sentinel.SwitchMaster(conn, "127.0.0.1", "1", "127.0.0.1", "2"); b != nil {
				box <- b
				told++
			}
		}
		l.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	for tries := 0; c.Get(ctx, "k").Err() == nil; tries++ {
		if tries > 5000 {
			t.Fatal("the client still asks the old master")
		}
		time.Sleep(time.Millisecond)
	}
	result(t, "OK")(c.Set(ctx, "k", "w", 0).Result())
	if got := l.ends["127.0.0.1:2"].model.Apply(0, 0, redis.Command{Verb: redis.Get, Key: "k"}); got.Str != "w" {
		t.Errorf("the new master holds %+v", got)
	}
	if m := l.sentinel.Missing(); m != "" {
		t.Errorf("missing: %s", m)
	}
}
