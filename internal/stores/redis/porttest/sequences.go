package porttest

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// batch is how many sequences one check runs: 500 with rapid's default of 100
// checks. They run in parallel in real time.
const batch = 5

// budget limits the sleep of one sequence in real time.
const budget = 120 * time.Millisecond

// move is one step of a sequence.
type move struct {
	conn int
	do   redis.Command
	// Before do: nothing (wait 0), a plain sleep, or a sleep until edge Slacks
	// after the key's expiry (milliseconds if time is exact).
	wait   time.Duration
	expiry bool
	edge   int
}

func (m move) String() string {
	s := fmt.Sprintf("conn %d: %s", m.conn, describe(m.do))
	switch {
	case m.expiry:
		s = fmt.Sprintf("to expiry%+d; %s", m.edge, s)
	case m.wait > 0:
		s = fmt.Sprintf("sleep %v; %s", m.wait, s)
	}
	return s
}

// moves draws 1–50 commands on 1–3 connections.
func moves(conns int) *rapid.Generator[[]move] {
	return rapid.Custom(func(t *rapid.T) []move {
		used := rapid.IntRange(1, conns).Draw(t, "connections")
		n := rapid.IntRange(1, 50).Draw(t, "length") // a slice of 1 to 50 would mostly be short
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
			m := move{
				conn: rapid.IntRange(0, used-1).Draw(t, "conn"),
				do:   commands().Draw(t, "command"),
			}
			switch rapid.IntRange(0, 11).Draw(t, "wait") {
			case 10:
				m.wait = time.Duration(rapid.IntRange(1, 80).Draw(t, "ms")) * ms
			case 11:
				m.expiry, m.edge = true, rapid.IntRange(-1, 1).Draw(t, "edge")
			}
			return m
		}), n, n).Draw(t, "moves")
	})
}

func commands() *rapid.Generator[redis.Command] {
	return rapid.Custom(func(t *rapid.T) redis.Command {
		c := redis.Command{
			Verb: rapid.SampledFrom(verbs).Draw(t, "verb"),
			Key:  rapid.SampledFrom([]string{"k", "k", "k", "n", "l"}).Draw(t, "key"),
		}
		switch c.Verb {
		case redis.Set:
			c.NX = rapid.Bool().Draw(t, "NX")
			fallthrough
		case redis.Grant, redis.Claim, redis.Extend, redis.Replace:
			c.TTL = ttls.Draw(t, "ttl")
			fallthrough
		case redis.SetNX, redis.GetSet, redis.RPush, redis.CompareAndDelete:
			c.Value = values.Draw(t, "value")
		case redis.PExpire:
			c.TTL = ttls.Draw(t, "ttl")
		}
		if c.Verb == redis.Replace {
			c.Old = values.Draw(t, "old")
		}
		if c.Verb == redis.Grant || c.Verb == redis.Claim {
			c.Counter = rapid.SampledFrom([]string{"n", "n", "", "l", "k"}).Draw(t, "counter")
		}
		return c
	})
}

var (
	verbs = []redis.Verb{
		redis.Get, redis.Set, redis.SetNX, redis.PExpire, redis.PTTL, redis.Del, redis.Incr,
		redis.RPush, redis.CompareAndDelete, redis.Grant, redis.Claim,
		redis.GetSet, redis.Extend, redis.Replace,
	}
	values = rapid.OneOf(
		rapid.SampledFrom([]string{"v", "w", "", "1", "7", "9223372036854775807"}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }),
	)
	ttls = rapid.SampledFrom([]time.Duration{
		60 * ms, 50 * ms, 90 * ms, long, 0, 70*ms + 1, -ms,
	})
)

// runSequences compares the server's answers to random sequences with the model's
// at the same times.
func runSequences(t *testing.T, w World) {
	var mu sync.Mutex
	total, cut, answers := 0, 0, 0
	rapidtest.Check(t, func(t *rapid.T) {
		sequences := rapid.SliceOfN(moves(len(w.Conns)), batch, batch).Draw(t, "sequences")
		failures := make([]string, len(sequences))
		var wg sync.WaitGroup
		for i, s := range sequences {
			play := func() {
				r := replay{w: w, prefix: prefix(), due: map[string]time.Duration{}, server: model.New(model.Options{})}
				failures[i] = r.play(t, s)
				mu.Lock()
				defer mu.Unlock()
				total++
				answers += r.answers
				if r.late {
					cut++
				}
			}
			if w.Slack == 0 {
				play()
			} else {
				wg.Go(play)
			}
		}
		wg.Wait()
		if f := strings.Join(failures, ""); f != "" {
			t.Fatal(f)
		}
	})
	t.Logf("%d sequences, %d answers; %d sequences cut short by a late one", total, answers, cut)
	if cut > total/2 {
		t.Errorf("%d of %d sequences were cut short: this machine is too slow for the test", cut, total)
	}
}

// replay is one sequence under way.
type replay struct {
	w       World
	prefix  string
	server  *model.Server
	due     map[string]time.Duration // expiry of each key that has one, on w.Now
	slept   time.Duration
	answers int  // equal to the model's
	late    bool // an answer took so long that the result says nothing
}

// play runs the sequence and returns a description of the first failure, or "".
func (r *replay) play(t *rapid.T, moves []move) string {
	for i, m := range moves {
		r.wait(m)
		before := r.w.Now()
		got, err := r.w.Conns[m.conn].Do(t.Context(), 0, within(r.prefix, m.do))
		if took := r.w.Now() - before; took > r.w.Slack/2 {
			r.late = true
			return ""
		}
		want := r.server.Apply(before, i+1, m.do)
		if err == nil && r.w.same(m.do, got, want) {
			r.answers++
			r.learn(before, m.do.Key)
			r.learn(before, m.do.Counter)
			continue
		}
		var b strings.Builder
		for j, m := range moves[:i+1] {
			fmt.Fprintf(&b, "%3d %v\n", j, m)
		}
		fmt.Fprintf(&b, "    got %+v, error %v; the model says %+v\n", got, err, want)
		return b.String()
	}
	return ""
}

// wait waits as m says, and then longer if a key of m is too near to its expiry.
func (r *replay) wait(m move) {
	d := m.wait
	if due, ok := r.due[m.do.Key]; m.expiry && ok {
		d = due + time.Duration(m.edge)*max(r.w.Slack, ms) - r.w.Now()
	}
	if r.w.Slack != 0 {
		d = min(d, budget-r.slept)
	}
	r.sleep(d)
	for _, key := range [...]string{m.do.Key, m.do.Counter, m.do.Key} {
		if due, ok := r.due[key]; ok && (r.w.Now()-due).Abs() < r.w.Slack {
			r.sleep(due + r.w.Slack - r.w.Now())
		}
	}
}

func (r *replay) sleep(d time.Duration) {
	if d > 0 {
		r.w.Sleep(d)
		r.slept += d
	}
}

// learn notes when key expires. The model and the server agree on it at this
// point.
func (r *replay) learn(now time.Duration, key string) {
	left := r.server.Apply(now, 0, pttl(key))
	if left.Int < 0 {
		delete(r.due, key)
		return
	}
	r.due[key] = now + time.Duration(left.Int)*ms
}
