package porttest

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// batch is how many sequences one check plays: 500 with rapid's default of 100
// checks.
const batch = 5

// move is one step of a sequence: a statement of a session.
type move struct {
	who int
	do  mysql.Command
}

func (m move) String() string { return fmt.Sprintf("session %d: %s", m.who, describe(m.do)) }

// moves draws 1–30 statements of 1–3 sessions, at any isolation level.
var moves = rapid.Custom(func(t *rapid.T) []move {
	used := rapid.SampledFrom([]int{2, 3, 2, 1}).Draw(t, "sessions")
	n := rapid.SampledFrom([]int{30, 20, 10, 5, 2, 1}).Draw(t, "length") // a slice of 1 to 30 would mostly be short
	first := rapid.SampledFrom([][]move{
		{{0, insert(row("k", 0))}, {0, insert(row("l", 0))}}, {{0, insert(row("k", 0))}}, nil,
	}).Draw(t, "before")
	for who := range used {
		level := mysql.Isolation(rapid.IntRange(0, 1).Draw(t, "level"))
		first = append(slices.Clip(first), move{who, isolate(level)}, move{who, begin()})
	}
	return append(first, rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		return move{rapid.IntRange(0, used-1).Draw(t, "session"), drawnCommand.Draw(t, "statement")}
	}), n, n).Draw(t, "moves")...)
})

var drawnCommand = rapid.Custom(func(t *rapid.T) mysql.Command {
	resource := rapid.SampledFrom([]string{"k", "l", "k", "j"}).Draw(t, "resource")
	version := rapid.SampledFrom([]int64{0, 1, 2}).Draw(t, "version")
	id := rapid.SampledFrom([]int64{1, 2, 3, 9}).Draw(t, "id")
	c := rapid.SampledFrom([]mysql.Command{
		update(resource, version), begin(), forUpdate(resource), insert(row(resource, version)), remove(resource),
		updateID(id, version), read(resource), commit(), forUpdate(resource), update(resource, version), removeID(id),
		rollback(), insert(row(resource, version)), updateID(id, version), getLock("n", -1), getLock("n", 0),
		releaseLock("n"), getLock("o", -1), isUsedLock("o"), releaseLock("o"),
	}).Draw(t, "do")
	if c.Where != 0 && rapid.IntRange(0, 2).Draw(t, "if") == 2 {
		c = ifVersion(rapid.SampledFrom([]int64{0, 1, 2}).Draw(t, "old"), c)
	}
	if c.Verb == mysql.Update && rapid.IntRange(0, 3).Draw(t, "columns") == 3 {
		c.Set |= mysql.Queue | mysql.Expires
		c.Row.Queue, c.Row.Expires = mysql.Some("q,"), 20
	}
	return c
})

// runSequences compares the server's answers to random sequences with the
// model's, and their times. It plays one sequence at a time: a snapshot of one
// would delay the purge of another's rows.
func runSequences(t *testing.T, w World) {
	l := &lane{T: t, World: w}
	rapidtest.Check(t, func(t *rapid.T) {
		for _, s := range rapid.SliceOfN(moves, batch, batch).Draw(t, "sequences") {
			if f := l.play(s); f != "" {
				t.Fatal(f)
			}
		}
	})
	t.Logf("%d answers, %d of them waited for, %d deadlocks; %d moves were left out", l.answers, l.waited, l.deadlocks, l.dropped)
}

// lane plays one sequence after the other.
type lane struct {
	*testing.T
	World
	answers, waited, deadlocks, dropped int
}
