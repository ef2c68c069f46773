package docker

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/clients"
)

// The fate of entries when a replica takes a master's place: each case is one key, its
// entry in the old master, and in the new one.
func TestSuccession(t *testing.T) {
	t.Parallel()
	const (
		now   = 10
		later = 20
	)
	for _, c := range []struct {
		name       string
		had, found *entry
		want       []string
		drops      bool
	}{
		{"nothing", nil, nil, nil, false},
		{"replicated", &entry{op: 1, value: "v1", due: later}, &entry{value: "v1", due: later}, nil, false},
		{"not replicated", &entry{op: 1, value: "v1", due: later}, nil, []string{"lose of 1 by nobody"}, false},
		{"expired meanwhile", &entry{op: 1, value: "v1", due: now}, nil, []string{"expire of 1 by nobody"}, false},
		{"removal not replicated", nil, &entry{value: "v1", due: later}, []string{"grant of 1 by nobody"}, false},
		{"takeover not replicated", &entry{op: 2, value: "v2", due: later}, &entry{value: "v1", due: later}, []string{"lose of 2 by nobody", "grant of 1 by nobody"}, false},
		{"an unknown owner", nil, &entry{value: "w", due: later}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got eventLog
			old, next := newLedger(t, &got), newLedger(t, &got)
			next.makers = old.makers
			old.makers.note("a", "v1", 1)
			old.makers.note("a", "v2", 2)
			found := map[string]entry{}
			if c.had != nil {
				old.entries["a"] = *c.had
			}
			if c.found != nil {
				found["a"] = *c.found
			}
			next.role = roleReplica
			next.applyOwn(change{"expired", "a"}) // its master reports that
			next.rise()
			next.adopt(old.depose(), found, now)
			if !slices.Equal(got.lines, c.want) || next.observes() == c.drops {
				t.Errorf("events %q, observes %v; want %q", got.lines, next.observes(), c.want)
			}

			// Old entries of the old master no longer count; its new ones do.
			got.lines = nil
			if c.had != nil {
				old.apply(act{by: &request{op: 3}, words: strings.Fields("PEXPIRE a 5")}, []change{{"expire", "a"}})
			}
			old.apply(act{by: &request{op: 4}, words: strings.Fields("SET a v4 PX 5")}, []change{{"set", "a"}, {"expire", "a"}})
			old.follow()
			old.apply(act{words: strings.Fields("DEL a")}, []change{{"del", "a"}})
			if want := []string{"grant of 4 by 4", "lose of 4 by nobody"}; !slices.Equal(got.lines, want) || !old.observes() {
				t.Errorf("events of the old master %q, observes %v; want %q", got.lines, old.observes(), want)
			}
		})
	}
}

// Changes that a new master makes by itself before its promotion is known are reported
// after its entries.
func TestSuccessionInTime(t *testing.T) {
	t.Parallel()
	var got eventLog
	l := newLedger(t, &got)
	l.rise()
	l.applyOwn(change{"expired", "a"})
	e := entry{op: 1, value: "v1", due: 20}
	l.adopt(map[string]entry{"a": e}, map[string]entry{"a": e}, 10)
	if want := []string{"expire of 1 by nobody"}; !slices.Equal(got.lines, want) {
		t.Errorf("events %q, want %q", got.lines, want)
	}
}

// The feed of an old master may show it as a replica before that of the new one shows a
// master: it stays a replica.
func TestAnOldMasterThatFollowsAlready(t *testing.T) {
	t.Parallel()
	var got eventLog
	l := newLedger(t, &got)
	l.follow()
	if had := l.depose(); len(had) > 0 {
		t.Errorf("it had %v", had)
	}
	l.apply(act{words: strings.Fields("DEL a")}, []change{{"del", "a"}})
	if len(got.lines) > 0 || !l.observes() {
		t.Errorf("events %q, observes %v", got.lines, l.observes())
	}
}

// replica is a fake server that has become a replica. It sends changes of its master at
// once, and its role only after them. hangUp ends it after the last message.
func replica(t *testing.T) (addr string, hangUp func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns []net.Conn
	serve := func(c net.Conn) {
		for r := bufio.NewReader(c); ; {
			_, words, err := clients.ReadRequest(r)
			if err != nil {
				return
			}
			const removed = ">4\r\n$8\r\npmessage\r\n$16\r\n__keyevent@0__:*\r\n$18\r\n__keyevent@0__:del\r\n$1\r\na\r\n"
			switch words[0] {
			case "PSUBSCRIBE":
				io.WriteString(c, ">3\r\n$10\r\npsubscribe\r\n$16\r\n__keyevent@0__:*\r\n:1\r\n"+removed)
			case "MONITOR":
				io.WriteString(c, "+OK\r\n"+removed+"+1.000000 [0 10.0.0.1:6379] \"DEL\" \"a\"\r\n")
			case "ROLE":
				time.Sleep(50 * time.Millisecond)
				io.WriteString(c, "*1\r\n$5\r\nslave\r\n")
			default:
				io.WriteString(c, "+OK\r\n")
			}
		}
	}
	var accepted, served sync.WaitGroup
	t.Cleanup(served.Wait)
	accepted.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			conns = append(conns, c)
			served.Go(func() { serve(c) })
		}
	})
	return l.Addr().String(), func() {
		l.Close()
		accepted.Wait()
		for _, c := range conns {
			c.(*net.TCPConn).CloseWrite()
		}
	}
}

// The changes of a replica count as its master's from the first message on.
func TestChangesOfAReplicaAreItsMasters(t *testing.T) {
	t.Parallel()
	var got eventLog
	addr, hangUp := replica(t)
	s := &server{box: box{name: "redis-1", Addr: addr}, node: &node{master: &server{}}, turns: 1, ledger: newLedger(t, &got)}
	s.ledger.role = roleDeposed
	if err := s.listen(1); err != nil {
		t.Fatal(err)
	}
	f := s.current()
	s.mu.Lock()
	s.turns++ // prevents a second feed
	s.mu.Unlock()
	hangUp()
	<-f.ended
	f.close()
	if !s.ledger.hasRole(roleReplica) || !s.ledger.observes() || len(got.lines) > 0 {
		t.Errorf("follows %v, observes %v, events %q", s.ledger.hasRole(roleReplica), s.ledger.observes(), got.lines)
	}
}
