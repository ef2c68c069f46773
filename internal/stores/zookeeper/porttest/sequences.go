package porttest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
)

// batch is how many sequences one check runs: 500 with rapid's default of 100
// checks. They run in parallel in real time.
const batch = 5

// move is one step of a sequence.
type move struct {
	session int
	close   bool // close the session and open it again; else do
	do      zookeeper.Command
}

func (m move) String() string {
	if m.close {
		return fmt.Sprintf("session %d: close, open", m.session)
	}
	return fmt.Sprintf("session %d: %s", m.session, describe(m.do))
}

// moves draws 1–42 requests of 1–3 sessions.
var moves = rapid.Custom(func(t *rapid.T) []move {
	used := rapid.SampledFrom([]int{3, 2, 1}).Draw(t, "sessions")
	n := rapid.SampledFrom([]int{40, 20, 30, 10, 5, 2, 1}).Draw(t, "length") // a slice of 1 to 40 would mostly be short
	before := rapid.SampledFrom([][]move{{{do: node}, {do: child}}, {{do: node}}, nil}).Draw(t, "before")
	return append(slices.Clip(before), rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		return move{
			session: rapid.IntRange(0, used-1).Draw(t, "session"),
			close:   rapid.IntRange(0, 29).Draw(t, "close") == 29,
			do:      drawnCommand.Draw(t, "request"),
		}
	}), n, n).Draw(t, "moves")...)
})

var drawnCommand = rapid.Custom(func(t *rapid.T) zookeeper.Command {
	c := zookeeper.Command{
		Verb: rapid.SampledFrom(drawnVerbs).Draw(t, "verb"),
		Path: rapid.SampledFrom(paths).Draw(t, "path"),
	}
	switch c.Verb {
	case zookeeper.Create:
		c.Mode = zookeeper.Mode(rapid.IntRange(0, 3).Draw(t, "mode"))
		if c.Path == "" {
			c.Mode &^= sequential // its number would also count other clients' nodes
		}
		fallthrough
	case zookeeper.SetData:
		c.Data = rapid.SampledFrom([]string{"", "v", "w\x00\xff"}).Draw(t, "data")
	}
	switch c.Verb {
	case zookeeper.Delete, zookeeper.SetData:
		c.Version = rapid.SampledFrom([]int32{anyVersion, anyVersion, 0, 1, 2}).Draw(t, "version")
	case zookeeper.GetChildren:
		c.Path = rapid.SampledFrom([]string{"", "", "/a", "/a/b"}).Draw(t, "list")
		fallthrough
	case zookeeper.Exists, zookeeper.GetData:
		c.Watch = rapid.IntRange(0, 3).Draw(t, "watch") < 3
	}
	return c
})

// The first and last values are drawn more often.
var (
	drawnVerbs = []zookeeper.Verb{
		zookeeper.Exists, zookeeper.Create, zookeeper.Delete, zookeeper.GetChildren, zookeeper.SetData, zookeeper.Create,
		zookeeper.GetData, zookeeper.Sync, zookeeper.Delete, zookeeper.Exists, zookeeper.Create, zookeeper.SetData, zookeeper.GetData,
	}
	paths = []string{
		"/a", "/a/b", "/a", "/s-", "/a", "/a/b", "/b", "", "/a/s-", "/s-0000000002", "/a/b/c",
		"/s-0000000001", "/a/s-0000000001", "/a0000000001", "/a/", "/a//b", "/a", "/a/b", "/a",
	}
)

// runSequences compares the ensemble's answers and events for random sequences
// with the model's.
func runSequences(t *testing.T, w World) {
	lanes := make([]*lane, batch)
	for i := range lanes {
		lanes[i] = &lane{t: t, w: w}
		for s := range lanes[i].handles {
			lanes[i].open(s)
			t.Cleanup(func() { _ = lanes[i].handles[s].Close(context.Background(), patience) })
		}
	}
	rapidtest.Check(t, func(rt *rapid.T) {
		sequences := rapid.SliceOfN(moves, batch, batch).Draw(rt, "sequences")
		failures := make([]string, batch)
		var wg sync.WaitGroup
		for i, s := range sequences {
			if w.Slack() == 0 {
				failures[i] = lanes[i].play(s)
			} else {
				wg.Go(func() { failures[i] = lanes[i].play(s) })
			}
		}
		wg.Wait()
		if f := strings.Join(failures, ""); f != "" {
			rt.Fatal(f)
		}
	})
	answers, told := 0, 0
	for _, l := range lanes {
		answers, told = answers+l.answers, told+l.told
	}
	t.Logf("%d answers, %d events", answers, told)
}

// lane plays one sequence after the other with the same sessions, each below a
// new node. One sequence does not affect the next.
type lane struct {
	t       *testing.T
	w       World
	handles [3]zookeeper.Handle
	answers int
	told    int
}

func (l *lane) open(s int) {
	l.handles[s] = l.w.Open(s, long)
	if _, err := l.handles[s].Next(l.t.Context(), patience); err != nil { // Connected
		l.t.Errorf("session %d: %v", s, err)
	}
}

// replay is one sequence under way, with its model.
type replay struct {
	*lane
	mapping
	leader   model.Leader
	member   *model.Member
	sessions [3]int64 // the model's numbers of the sessions
	stale    [3]bool  // another session has written since it last caught up
	last     int      // tag of the last request
}

// play runs the sequence and returns a description of the first failure, or "".
func (l *lane) play(moves []move) string {
	r := &replay{lane: l, member: model.NewMember(), mapping: mapping{root: root(), owners: map[int64]int64{}}}
	r.leader.Lead(0, 0, 1, r.member)
	for s := range r.sessions {
		r.welcome(s)
	}
	if what := r.step(move{do: create("", "", persistent)}); what != "" {
		return "at the beginning: " + what
	}
	for i, m := range moves {
		what := r.step(m)
		if what == "" && i == len(moves)-1 {
			what = r.finish()
		}
		if what == "" {
			continue
		}
		var b strings.Builder
		for j, m := range moves[:i+1] {
			fmt.Fprintf(&b, "%3d %v\n", j, m)
		}
		fmt.Fprintf(&b, "    %s\n", what)
		for s := range l.handles { // events left in their queues would confuse the next sequence
			_ = l.handles[s].Close(l.t.Context(), patience)
			l.open(s)
		}
		return b.String()
	}
	return ""
}

// welcome opens session s in the model.
func (r *replay) welcome(s int) {
	t := r.leader.Open(0, 0, long)
	r.member.Commit(t)
	r.sessions[s] = t.Session
	r.owners[t.Session] = r.handles[s].ID()
}

// step executes m on the model and the ensemble.
func (r *replay) step(m move) string {
	if m.close {
		return r.reopen(m.session)
	}
	h := r.handles[m.session]
	write := m.do.Verb == zookeeper.Create || m.do.Verb == zookeeper.Delete || m.do.Verb == zookeeper.SetData
	if r.stale[m.session] && !write {
		if _, err := h.Do(r.t.Context(), patience, flush(r.root)); err != nil {
			return err.Error()
		}
		r.stale[m.session] = false
	}
	var want zookeeper.Reply
	// The model uses the ensemble's root, so that paths have the same length.
	if c := within(r.root, m.do); write {
		r.last++
		t, _ := r.leader.Propose(0, r.sessions[m.session], r.last, c)
		want = r.member.Commit(t)
		want.Path = strings.TrimPrefix(want.Path, r.root)
		if model.Valid(c) { // else the library refuses it without a server
			r.markStale(m.session)
		}
	} else {
		want = r.member.Read(r.sessions[m.session], c)
	}
	got, err := h.Do(r.t.Context(), patience, within(r.root, m.do))
	if err != nil || !r.same(got, want) {
		return fmt.Sprintf("got %s, error %v; the model says %s", show(got), err, show(want))
	}
	r.answers++
	return r.events(-1)
}

// markStale makes every other session catch up before its next read. The session that
// wrote has: its answer came after all earlier decisions.
func (r *replay) markStale(session int) {
	for s := range r.stale {
		r.stale[s] = s != session
	}
}

// reopen closes session s and opens another in its place.
func (r *replay) reopen(s int) string {
	t, _ := r.leader.Close(0, r.sessions[s], 0)
	r.member.Commit(t)
	if err := r.handles[s].Close(r.t.Context(), patience); err != nil {
		return "close: " + err.Error()
	}
	r.markStale(s)
	r.stale[s] = true // the new connection has seen nothing
	if what := r.events(s); what != "" {
		return what
	}
	r.open(s)
	r.welcome(s)
	return ""
}

// events takes the model's events from the queues. The session closing, which is
// closed, has none. The ensemble removes its nodes in any order.
func (r *replay) events(closing int) string {
	var want [3][]zookeeper.Event
	for _, f := range r.member.Fired() {
		s := slices.Index(r.sessions[:], f.Session)
		want[s] = append(want[s], f.Event)
	}
	for s, h := range r.handles {
		if s == closing {
			continue
		}
		var got []zookeeper.Event
		for range want[s] {
			e, err := h.Next(r.t.Context(), patience)
			if err != nil {
				return fmt.Sprintf("session %d got %v and then the error %v; the model says %v", s, got, err, want[s])
			}
			got = append(got, e)
		}
		if closing >= 0 {
			slices.SortFunc(got, compareEvents)
			slices.SortFunc(want[s], compareEvents)
		}
		if !slices.Equal(got, want[s]) {
			return fmt.Sprintf("session %d got %v; the model says %v", s, got, want[s])
		}
		r.told += len(got)
	}
	return ""
}

func compareEvents(a, b zookeeper.Event) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Type, b.Type))
}

// finish asserts that the queues are empty, and closes the sessions that have
// nodes. Otherwise their removal would cause events later.
func (r *replay) finish() string {
	for s, h := range r.handles {
		if _, err := h.Do(r.t.Context(), patience, flush(r.root)); err != nil {
			return err.Error()
		}
		if e, err := h.Next(r.t.Context(), moment); err == nil {
			return fmt.Sprintf("session %d got %v; the model says nothing", s, e)
		}
	}
	nodes := map[int64]int{}
	for _, e := range r.member.Effects() {
		switch e.Kind {
		case model.Created:
			nodes[e.Owner]++
		case model.Deleted:
			nodes[e.Owner]--
		}
	}
	for s, session := range r.sessions {
		if nodes[session] == 0 {
			continue
		}
		if what := r.reopen(s); what != "" {
			return "at the end: " + what
		}
	}
	return ""
}
