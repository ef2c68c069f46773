package models

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

// someModels returns all models, with numbers for those that take one.
func someModels() (list []Model) {
	for _, m := range All() {
		list = append(list, m)
		switch {
		case m.Param != "" && m.kind == register:
			m.First = history.Some(0)
			list = append(list, m)
		case m.Param != "":
			list[len(list)-1].N = 2
		}
	}
	return list
}

// parsed returns the model of that name.
func parsed(t *testing.T, name string) Model {
	t.Helper()
	m, err := Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// fed returns a judge that has read the entries.
func fed(m Model, o Options, entries []history.Entry) *Judge {
	j := New(m, o)
	for i := range entries {
		j.Add(&entries[i], i+1)
	}
	return j
}

// gathered returns a judge that has read the entries, and its objects.
func gathered(m Model, o Options, entries []history.Entry) (*Judge, []*object) {
	j := fed(m, o, entries)
	j.finish()
	return j, j.objects(false)
}

func shown(entries []history.Entry) string {
	var b strings.Builder
	_ = history.Encode(&b, &history.History{Entries: entries})
	return b.String()
}

// Each direct check is compared with Porcupine on random histories. A search that
// needs too many steps counts as no agreement; fewer than one in a hundred may do so.
// The pieces of long histories are compared, too.
func TestTheJudgesAgreeOnEveryModel(t *testing.T) {
	t.Parallel()
	for _, m := range someModels() {
		for _, o := range []Options{{}, {Released: true}, {StrictTry: true}} {
			if m.kind == register && (o.StrictTry || o.Released) {
				continue
			}
			name := m.String()
			share := 1
			if o.Released {
				name, share = name+" released", 4
			}
			if o.StrictTry {
				name, share = name+" strict-try", 4
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				agree(t, m, o, alltests.Budget(3000, 200)/share)
			})
		}
	}
}

func agree(t *testing.T, m Model, opts Options, histories int) {
	var valid, violated, undecided, left, parts int
	b := newBudget(context.Background(), Options{})
	rapidtest.CheckN(t, histories, func(rt *rapid.T) {
		entries := anyHistory(rt, m, opts)
		if err := history.Check(&history.History{Entries: entries}); err != nil {
			rt.Fatalf("%v\n%s", err, shown(entries))
		}
		_, objects := gathered(m, opts, entries)
		for _, o := range objects {
			f := o.direct()
			whole, _ := b.search(o, o.operations(0, never), o.start(), confirmSteps)
			pieces := o.cut()
			if len(pieces) > 1 {
				parts++
			}
			if cut := piecewise(b, o, pieces); cut != checker.Unknown && whole != checker.Unknown && cut != whole {
				rt.Fatalf("Porcupine says %s, and in %d pieces %s\n%s", whole, len(pieces), cut, shown(entries))
			}
			switch {
			case whole == checker.Unknown:
				undecided++
			case f.outcome == checker.Unknown:
				left++
			case f.outcome != whole:
				rt.Fatalf("%s: the direct check says %s (%s), Porcupine says %s\n%s", m.Name, f.outcome, f.sentence, whole, shown(entries))
			case whole == checker.Valid:
				valid++
			default:
				violated++
				o.mustConvict(rt, b, f, entries)
			}
		}
	})
	t.Logf("%d valid, %d violated, %d not decided by Porcupine, %d left to it, %d cut, in %d histories", valid, violated, undecided, left, parts, histories)
	if n := valid + violated; n*2 < histories {
		t.Errorf("only %d were compared in %d histories", n, histories)
	}
	if undecided*100 > valid+violated {
		t.Errorf("Porcupine left %d undecided", undecided)
	}
	if alltests.Wanted() && (valid*100 < histories || violated*100 < histories) {
		t.Errorf("%d valid and %d violated say little", valid, violated)
	}
}

// piecewise returns Porcupine's verdict on pieces.
func piecewise(b *budget, o *object, pieces []piece) checker.Outcome {
	all := checker.Valid
	for _, p := range pieces {
		switch out, _ := b.search(o, p.ops(), p.start, confirmSteps); out {
		case checker.Violated:
			return out
		case checker.Unknown:
			all = out
		}
	}
	return all
}

// mustConvict checks that Porcupine finds no order for the facts, for any choice of
// the other operations, and that each fact is needed.
func (o *object) mustConvict(t *rapid.T, b *budget, f finding, entries []history.Entry) {
	if len(f.facts) == 0 || f.sentence == "" {
		t.Fatalf("there is no witness\n%s", shown(entries))
	}
	// The drawn operations have no order either.
	for _, start := range f.starts(o.model.kind)[:1] {
		if out, _ := b.search(o, o.scene(f), start, confirmSteps); out == checker.Valid && !f.absence {
			t.Fatalf("%s\nthe picture shows an order %v\n%s", f.sentence, f.facts, shown(entries))
		}
	}
	if f.absence {
		return
	}
	f = o.prune(b, f)
	for _, start := range f.starts(o.model.kind) {
		if out, _ := b.search(o, o.around(f), start, confirmSteps); out == checker.Valid {
			t.Fatalf("%s\nis no witness: Porcupine finds an order %v\n%s", f.sentence, f.facts, shown(entries))
		}
	}
	// Without any one of them there is an order. A hold is one fact, with both its
	// ends.
	for k, without := range f.facts {
		var fewer []operation
		certain := false
		for _, x := range o.around(f) {
			same := x.opID == without.op || o.model.kind == holding && x.kind <= queueOp && x.n == without.op.n
			if same && !x.optional {
				certain = true
				if !o.relax(&x) {
					continue
				}
			}
			fewer = append(fewer, x)
		}
		needed := !certain
		for _, start := range f.starts(o.model.kind) {
			// A search of more steps is too long for the judge as well.
			out, _ := b.search(o, fewer, start, confirmSteps)
			needed = needed || out != checker.Violated
		}
		if !needed {
			t.Fatalf("%s\nneeds no fact %d: %v\n%s", f.sentence, k, f.facts, shown(entries))
		}
	}
}

func TestAWitnessNamesLines(t *testing.T) {
	t.Parallel()
	j := New(table[0], Options{})
	for i, e := range []history.Entry{
		{Process: history.Process{N: 1}, Type: history.Invoke, F: history.Acquire},
		{Process: history.Process{N: 1}, Type: history.OK, F: history.Acquire},
		{Process: history.Process{N: 2}, Type: history.Invoke, F: history.Acquire},
		{Process: history.Process{N: 2}, Type: history.OK, F: history.Acquire},
		{Process: history.Process{N: 1}, Type: history.Invoke, F: history.Release},
	} {
		j.Add(&e, i+11)
	}
	v := j.Verdict(context.Background())
	got := fmt.Sprintf("%s %+v", v.Outcome, v.Witness)
	want := "violated &{Sentence:process 1 held the lock from line 12 to line 15, and process 2 was granted it in line 14. Lines:[12 14 15]}"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
