package sim_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// flawed carries out the first schedule of a case.
func flawed(t *testing.T, id string) *harness.Judged {
	t.Helper()
	c, ok := catalogue.FindCase(id)
	if !ok {
		t.Fatal(id)
	}
	plan, _, _ := harness.CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
	j, _, err := harness.Simulate(sim.Simulator, plan)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// The messages of every case are in order, arrive after they were sent, and belong to an
// operation of the client that sent or got them.
func TestMessagesOfCases(t *testing.T) {
	t.Parallel()
	for _, c := range catalogue.Cases {
		j := flawed(t, c.ID)
		if len(j.Messages.List) == 0 {
			t.Errorf("%s: no messages", c.ID)
		}
		invoked := map[int]*history.Entry{}
		for i := range j.History.Entries {
			if e := &j.History.Entries[i]; e.Type == history.Invoke {
				invoked[e.Index] = e
			}
		}
		last := time.Duration(0)
		for _, m := range j.Messages.List {
			e := invoked[m.By]
			switch {
			case m.Sent < last, m.Arrived != 0 && m.Arrived < m.Sent, m.Arrived != 0 && m.Lost, m.Late && m.Arrived == 0, m.From == m.To, m.Text == "", strings.Contains(m.Text, "script"):
				t.Errorf("%s: %+v after %v", c.ID, m, last)
			case m.By != 0 && (e == nil || e.Time > m.Sent || m.From != e.Client && m.To != e.Client):
				t.Errorf("%s: %+v is none of %+v", c.ID, m, e)
			}
			last = m.Sent
		}
		if again := flawed(t, c.ID); !reflect.DeepEqual(again.Messages, j.Messages) {
			t.Errorf("%s: the same run has other messages", c.ID)
		}
	}
}

// Messages say what was asked and answered, between servers too, and which were lost or
// late.
func TestMessagesInWords(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id   string
		want []string
	}{
		{"redis-get-del-race", []string{"c1 → redis-1: SET a ", "redis-1 → c1: OK", "c2 → resource: write", "redis-1 → c2: nil"}},
		{"redis-delayed-write", []string{"c1 → resource: write 1 (late)"}},
		{"redis-sentinel-split-brain", []string{"redis-1 → redis-1b: set \"a\""}},
		{"zk-session-expiry-holder", []string{"c1 → zk-1: create /", "zk-3 → zk-1: commits up to 3", "zk-1 → c1: "}},
		{"redis-retry-set-nx", []string{"redis-1 → c1: OK (lost)"}},
		{"mysql-insert-reply-lost", []string{"mysql-1 → c1: ok (lost)"}},
		{"mysql-getlock-failover", []string{"c1 → mysql-1: GET_LOCK a", "mysql-1 → c1: 1"}},
	} {
		j := flawed(t, tt.id)
		var all []string
		for _, m := range j.Messages.List {
			words := fmt.Sprintf("%s → %s: %s", m.From, m.To, m.Text)
			if m.Late {
				words += " (late)"
			}
			if m.Lost {
				words += " (lost)"
			}
			all = append(all, words)
		}
		for _, want := range tt.want {
			if !slices.ContainsFunc(all, func(s string) bool { return strings.HasPrefix(s, want) }) {
				t.Errorf("%s: no message begins with %q in\n%s", tt.id, want, strings.Join(all, "\n"))
			}
		}
	}
}
