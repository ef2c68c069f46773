package client_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2/proto"

	"github.com/lockcheck/lockcheck/internal/stores/redis/client"
	"github.com/lockcheck/lockcheck/locks"
)

// sentinel answers like a Redis Sentinel for one master, "redis-1".
type sentinel struct {
	listener net.Listener

	mu     sync.Mutex
	master string // as announced
	others []string
	silent bool
	conns  map[net.Conn]bool // true: it has subscribed
	wait   func()
}

func newSentinel(t *testing.T, master string) *sentinel {
	t.Helper()
	s := &sentinel{master: master, conns: map[net.Conn]bool{}}
	s.listener, s.wait = acceptAll(t, s.serve)
	t.Cleanup(s.stop)
	return s
}

func (s *sentinel) stop() {
	s.listener.Close()
	s.mu.Lock()
	for c := range s.conns {
		c.Close()
	}
	s.mu.Unlock()
	s.wait()
}

func (s *sentinel) addr() string { return s.listener.Addr().String() }

func (s *sentinel) serve(conn net.Conn) {
	defer conn.Close()
	s.mu.Lock()
	s.conns[conn] = false
	s.mu.Unlock()
	r := bufio.NewReader(conn)
	for {
		_, words, err := readRequest(r)
		if err != nil {
			return
		}
		s.mu.Lock()
		s.answer(conn, words)
		s.mu.Unlock()
	}
}

func (s *sentinel) answer(conn net.Conn, words []string) {
	switch {
	case s.silent:
	case words[0] == "sentinel" && words[1] == "get-master-addr-by-name":
		host, port, _ := net.SplitHostPort(s.master)
		io.WriteString(conn, proto.Strings(host, port))
	case words[0] == "sentinel" && words[1] == "sentinels":
		var others []string
		for _, o := range s.others {
			host, port, _ := net.SplitHostPort(o)
			others = append(others, proto.Strings("ip", host, "port", port))
		}
		io.WriteString(conn, proto.Array(others...))
	case words[0] == "subscribe":
		s.conns[conn] = true
		for i, channel := range words[1:] {
			io.WriteString(conn, proto.Array(proto.String("subscribe"), proto.String(channel), proto.Int(i+1)))
		}
	default:
		io.WriteString(conn, proto.Error("ERR unknown command '"+words[0]+"'"))
	}
}

// promote changes the master and, with tell, notifies the subscribers.
func (s *sentinel) promote(master string, tell bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, fromPort, _ := net.SplitHostPort(s.master)
	to, toPort, _ := net.SplitHostPort(master)
	s.master = master
	for c, subscribed := range s.conns {
		if subscribed && tell {
			io.WriteString(c, proto.Strings("message", "+switch-master", strings.Join([]string{"redis-1", from, fromPort, to, toPort}, " ")))
		}
	}
}

func (s *sentinel) setSilent(silent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.silent = silent
}

func (s *sentinel) subscribers() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, subscribed := range s.conns {
		if subscribed {
			n++
		}
	}
	return n
}

// newWatchedNode returns a node with two servers and two Sentinels.
func newWatchedNode(t *testing.T) (options client.Options, one, two *link, watches []*sentinel) {
	t.Helper()
	one, two = newLink(t, always(pass)), newLink(t, always(pass))
	watches = []*sentinel{newSentinel(t, one.addr), newSentinel(t, one.addr)}
	first, second := watches[0].addr(), watches[1].addr()
	watches[0].others, watches[1].others = []string{second}, []string{first}
	return client.Options{Master: "redis-1", Sentinels: []string{first, second}, Timeout: 4 * wait}, one, two, watches
}

func TestTheMasterIsWhomSentinelsName(t *testing.T) {
	options, one, two, watches := newWatchedNode(t)
	p := port(t, options)
	for i := range 3 {
		if n, err := p.Incr(t.Context(), 0, "n"); n != int64(i+1) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	for _, w := range watches {
		w.promote(two.addr, true)
	}
	limit := time.Now().Add(time.Minute)
	for { // until the news arrives the old master answers
		n, err := p.Incr(t.Context(), 0, "n")
		if err != nil {
			t.Logf("during the switch: %v", err)
		} else if n == 1 {
			break
		}
		if time.Now().After(limit) {
			t.Fatal("requests still go to the old master")
		}
	}
	if n := len(two.seen()); n != 1 {
		t.Errorf("the new master got %d requests", n)
	}
	before := len(one.seen())
	for range 3 {
		if _, err := p.Incr(t.Context(), 0, "n"); err != nil {
			t.Error(err)
		}
	}
	if after := len(one.seen()); after != before {
		t.Errorf("the old master got %d more", after-before)
	}
}

// A client that missed the switch finds the new master at its next connection.
func TestADeadMasterIsLeft(t *testing.T) {
	options, one, two, watches := newWatchedNode(t)
	p := port(t, options)
	if _, err := p.Incr(t.Context(), 0, "n"); err != nil {
		t.Fatal(err)
	}
	one.cut()
	if _, err := p.Incr(t.Context(), 0, "n"); !locks.IsDefinite(err) {
		t.Errorf("no server: %v, want a definite error", err)
	}
	for _, w := range watches {
		w.promote(two.addr, false)
	}
	if n, err := p.Incr(t.Context(), 0, "n"); n != 1 || err != nil {
		t.Errorf("the new master: %d, %v", n, err)
	}
}

// A request that is under way to the old master at the switch may have been
// executed. It was sent once, and is not sent to the new master.
func TestASwitchLeavesWhatIsUnderWayUncertain(t *testing.T) {
	for _, retries := range []int{0, 3} {
		options, one, two, watches := newWatchedNode(t)
		options.Timeout, options.Retries = 10*time.Second, retries
		one.decide = func(words []string) fate {
			if words[0] == "INCR" {
				return loseReply
			}
			return pass
		}
		p := port(t, options)
		if _, _, err := p.Get(t.Context(), 0, "n"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() {
			_, err := p.Incr(t.Context(), 0, "n")
			done <- err
		}()
		for len(one.seen()) < 2 || watches[0].subscribers()+watches[1].subscribers() == 0 {
			time.Sleep(time.Millisecond)
		}
		for _, w := range watches {
			w.promote(two.addr, true)
		}
		err := <-done
		switch again := slices.Contains(two.seen(), "INCR n"); {
		case retries == 0 && (again || err == nil || locks.IsDefinite(err)):
			t.Errorf("%v, sent again: %v", err, again)
		case retries > 0 && (!again || err != nil): // go-redis's default
			t.Errorf("with retries: %v, sent again: %v", err, again)
		}
	}
}

func TestNoSentinelIsDefinite(t *testing.T) {
	options, one, _, watches := newWatchedNode(t)
	for _, w := range watches {
		w.setSilent(true)
	}
	p := port(t, options)
	start := time.Now()
	_, err := p.SetNX(t.Context(), wait, "k", "v")
	took(t, start, wait)
	fails(t, err, os.ErrDeadlineExceeded, true)
	for _, w := range watches {
		w.stop()
	}
	if _, err := p.SetNX(t.Context(), 0, "k", "v"); !locks.IsDefinite(err) {
		t.Errorf("dead: %v, want a definite error", err)
	}
	if seen := one.seen(); len(seen) != 0 {
		t.Errorf("%q was sent", seen)
	}
}

// A hanging Sentinel is skipped within the time of one dial.
func TestAHangingSentinelIsPassedOver(t *testing.T) {
	options, one, _, watches := newWatchedNode(t)
	options.Timeout = 2 * wait
	p := port(t, options)
	if _, err := p.Incr(t.Context(), 0, "n"); err != nil {
		t.Fatal(err)
	}
	for _, w := range watches {
		w.setSilent(w.subscribers() > 0)
	}
	one.hangUp()
	start := time.Now()
	for time.Since(start) < 20*options.Timeout {
		if _, err := p.Incr(t.Context(), 0, "n"); err == nil {
			t.Logf("after %v", time.Since(start))
			return
		}
	}
	t.Error("no other Sentinel was asked")
}

// A paused master answers neither greetings nor requests. A call that gives up
// leaves its connection.
func TestCallsLeaveAHangingMastersConnection(t *testing.T) {
	for _, silent := range []string{"hello", "incr"} {
		options, one, _, _ := newWatchedNode(t)
		one.decide = func(words []string) fate {
			if strings.EqualFold(words[0], silent) {
				return swallow
			}
			return pass
		}
		p := port(t, options)
		_, err := p.Incr(t.Context(), 0, "n")
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %v, want os.ErrDeadlineExceeded", silent, err)
		}
		for limit := time.Now().Add(time.Minute); one.open() > 0; {
			if time.Now().After(limit) {
				t.Fatalf("%s: %d connections are open", silent, one.open())
			}
			time.Sleep(time.Millisecond)
		}
	}
}
