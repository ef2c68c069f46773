package model_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
)

// life is the life of locks: a row is created, read, taken over and removed; a
// row is locked and waited for; a named lock is waited for.
var life = []struct {
	who int
	do  mysql.Command
}{
	{0, insert("k")},
	{1, insert("k")},
	{1, mysql.Command{Verb: mysql.Select, Row: mysql.Row{Resource: "k"}}},
	{1, takeOver("k", 1)},
	{0, verb(mysql.Begin)},
	{0, forUpdate("k")},
	{1, verb(mysql.Begin)},
	{1, forUpdate("k")},
	{0, verb(mysql.Commit)},
	{1, verb(mysql.Commit)},
	{0, remove("k")},
	{0, get("n")},
	{1, get("n")},
	{0, release("n")},
	{1, release("n")},
}

// runner executes life in two sessions, one statement for each step.
type runner struct {
	server   *model.Server
	sessions [2]int64
	now      model.Clock
	steps    int
}

func newRunner() *runner {
	r := &runner{server: model.New(model.Options{})}
	r.reset()
	return r
}

func (r *runner) reset() {
	r.server.Reset(model.Options{})
	r.sessions = [2]int64{r.server.Connect(r.now), r.server.Connect(r.now)}
}

func (r *runner) step() {
	s := life[r.steps%len(life)]
	r.steps++
	r.now.Mono += ms
	r.server.Do(r.now, r.sessions[s.who], r.steps, s.do)
	r.server.Next()
	r.server.Outputs()
}

func BenchmarkDo(b *testing.B) {
	r := newRunner()
	b.ReportAllocs()
	for b.Loop() {
		if r.steps%1500 == 0 {
			r.reset() // like a run, which begins with an empty log
		}
		r.step()
	}
}

func BenchmarkAppendState(b *testing.B) {
	r := newRunner()
	for range 8 {
		r.step()
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = r.server.AppendState(buf[:0], r.now)
	}
}

// BenchmarkReplicate measures a write and its application on a replica.
func BenchmarkReplicate(b *testing.B) {
	r := newRunner()
	replica := model.New(model.Options{})
	replica.Follow()
	b.ReportAllocs()
	for b.Loop() {
		if r.steps%1500 == 0 {
			r.reset()
			replica.Reset(model.Options{})
		}
		r.step()
		for _, t := range r.server.Transactions(replica.Committed()) {
			replica.Replicate(r.now, t)
		}
	}
}

// A run executes many statements, so they must not allocate memory, except for
// the log.
func TestStatementsAllocateOnlyTheLog(t *testing.T) {
	r := newRunner()
	lives := func() {
		r.reset()
		for range 20 * len(life) {
			r.step()
		}
	}
	lives()
	if n := testing.AllocsPerRun(50, lives); n > 3*20 {
		t.Errorf("%v allocations for 20 lives with 3 writes each, want 60", n)
	}
}
