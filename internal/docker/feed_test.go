package docker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
)

func TestMonitorLine(t *testing.T) {
	t.Parallel()
	at, source, words, err := monitorLine(`1339518083.107412 [0 127.0.0.1:60866] "SET" "a \"b\"\\" "\x00\xc3\xa9\n" ""`)
	want := []string{"SET", `a "b"\`, "\x00é\n", ""}
	if at != 1339518083*time.Second+107412*time.Microsecond || source != "127.0.0.1:60866" || !slices.Equal(words, want) || err != nil {
		t.Errorf("%v %q %q %v", at, source, words, err)
	}
	if _, source, _, err := monitorLine(`1.000002 [0 lua] "DEL" "a"`); source != "lua" || err != nil {
		t.Errorf("%q %v", source, err)
	}
	for _, bad := range []string{"OK", "", `1 [0 lua] "DEL"`, `1.0 [0 lua] DEL`, `1.0 [0 lua] "DEL`, `x.y [0 lua] "DEL"`, `1.0 [0] "DEL"`} {
		if _, _, words, err := monitorLine(bad); err == nil {
			t.Errorf("%q is parsed as %q", bad, words)
		}
	}
}

// eventLog collects the events of a ledger.
type eventLog struct {
	env.Observer
	lines []string
}

func (t *eventLog) Server(e history.Entry) {
	by := "nobody"
	if e.By.Set {
		by = fmt.Sprint(e.By.V)
	}
	if e.Text != "" && e.F == history.Lose {
		by += ", " + e.Text
	}
	t.lines = append(t.lines, fmt.Sprintf("%s of %d by %s", e.F, e.Op.V, by))
}

// newLedger returns the ledger of a master with the lock a, and of no entries.
func newLedger(t *testing.T, got *eventLog) *ledger {
	return &ledger{
		view: view{observer: got, log: t.Logf}, keys: newKeys(&catalogue.Lock{}, []string{"a"}), entries: map[string]entry{},
		makers: &makers{ops: map[[2]string]int64{}}, stray: map[string]bool{},
	}
}

// The effects of commands on the entry of a lock, as the server reports them.
func TestLedger(t *testing.T) {
	t.Parallel()
	type step struct {
		by      int64 // 0: the server itself; -1: unknown; or operator
		command string
		events  string
		script  bool
	}
	for _, c := range []struct {
		name  string
		steps []step
		want  []string
		drops bool
	}{
		{"set and delete", []step{{1, "SET a v NX PX 100", "set expire", false}, {2, "DEL a", "del", false}}, []string{"grant of 1 by 1", "remove of 1 by 2"}, false},
		{"an operator's delete", []step{{1, "SETNX a v", "set", false}, {operator, "DEL a", "del", false}, {2, "SETNX a w", "set", false}}, []string{"grant of 1 by 1", "remove of 1 by nobody", "grant of 2 by 2"}, false},
		{"expiry", []step{{1, "SET a v PX 100", "set expire", false}, {0, "", "expired", false}, {0, "", "expired", false}}, []string{"grant of 1 by 1", "expire of 1 by nobody"}, false},
		{"eviction", []step{{1, "SETNX a v", "set", false}, {0, "", "evicted", false}}, []string{"grant of 1 by 1", "lose of 1 by nobody"}, false},
		{"an expiry in a second command", []step{{1, "SETNX a v", "set", false}, {1, "PEXPIRE a 100", "expire", false}}, []string{"grant of 1 by 1", "shorten of 1 by 1"}, false},
		{"renewal", []step{{1, "SET a v PX 100", "set expire", false}, {2, "PEXPIRE a 200", "expire", false}, {3, "PERSIST a", "persist", false}, {4, "EXPIRE a 1", "expire", false}}, []string{"grant of 1 by 1", "prolong of 1 by 2", "prolong of 1 by 3", "shorten of 1 by 4"}, false},
		{"an expiry in the past", []step{{1, "SETNX a v", "set", false}, {2, "PEXPIRE a -1", "del", false}}, []string{"grant of 1 by 1", "remove of 1 by 2"}, false},
		{"takeover", []step{{1, "SETNX a v", "set", false}, {2, "GETSET a w", "set", false}, {3, "DEL a", "del", false}}, []string{"grant of 1 by 1", "takeover of 1 by 2", "grant of 2 by 2", "remove of 2 by 3"}, false},
		{"claim of one's own", []step{{1, "SET a v NX PX 100", "set expire", true}, {2, "SET a v PX 200", "set expire", true}}, []string{"grant of 1 by 1", "prolong of 1 by 2"}, false},
		{"counting is no change", []step{{1, "INCR a", "incrby", false}, {2, "INCR a", "incrby", false}}, []string{"grant of 1 by 1"}, false},
		{"another key", []step{{1, "SET {a}:token 1", "set", false}}, nil, false},
		{"a stranger", []step{{-1, "DEL a", "del", false}}, nil, true},
		{"an expiry by an unknown command", []step{{1, "SETNX a v", "set", false}, {2, "RENEW a", "expire", false}}, []string{"grant of 1 by 1"}, true},
		{"everything is removed", []step{{-1, "FLUSHALL", "", false}}, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got eventLog
			l := newLedger(t, &got)
			for _, s := range c.steps {
				if s.by == 0 {
					l.applyOwn(change{s.events, "a"})
					continue
				}
				words := strings.Fields(s.command)
				key := "a"
				if len(words) > 1 {
					key = words[1]
				}
				var changes []change
				for _, e := range strings.Fields(s.events) {
					changes = append(changes, change{e, key})
				}
				l.apply(act{by: &request{op: s.by}, at: time.Second, words: words, script: s.script}, changes)
			}
			if !slices.Equal(got.lines, c.want) {
				t.Errorf("events %q, want %q", got.lines, c.want)
			}
			if l.observes() == c.drops {
				t.Errorf("observes: %v", l.observes())
			}
		})
	}
}

// After a restart the ledger reports the fate of each entry.
func TestLedgerAfterRestart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		known, there bool
		at           time.Duration
		want         []string
		drops        bool
	}{
		{true, true, 1, nil, false},
		{true, false, 1, []string{"lose of 1 by nobody"}, false},
		{true, false, 3, []string{"expire of 1 by nobody"}, false},
		{false, false, 1, nil, false},
		{false, true, 1, nil, true},
	} {
		var got eventLog
		l := newLedger(t, &got)
		if c.known {
			l.entries["a"] = entry{op: 1, due: 2}
		}
		l.compare("a", c.there, c.at)
		if !slices.Equal(got.lines, c.want) || l.observes() == c.drops {
			t.Errorf("%+v: events %q, observes %v", c, got.lines, l.observes())
		}
	}
}

func TestOwner(t *testing.T) {
	t.Parallel()
	self, err := thisOwner()
	if err != nil {
		t.Fatal(err)
	}
	if o, err := parseOwner(self.String()); o != self || err != nil {
		t.Errorf("%v, %v", o, err)
	}
	before, elsewhere, namespace := self, self, self
	before.start--
	elsewhere.boot = "another"
	namespace.space = "1"
	for _, c := range []struct {
		o       owner
		running bool
		dead    bool
	}{
		{self, true, false},
		{self, false, false},
		{before, true, true},
		{elsewhere, true, false},
		{elsewhere, false, true},
		{namespace, true, false},
	} {
		if got := c.o.dead(self, c.running); got != c.dead {
			t.Errorf("%v, running %v: dead %v", c.o, c.running, got)
		}
	}
	for _, bad := range []string{"", "1", "1:2:3", "x:2:b:s", "1:x:b:s"} {
		if _, err := parseOwner(bad); err == nil {
			t.Errorf("%q is an owner", bad)
		}
	}
}
