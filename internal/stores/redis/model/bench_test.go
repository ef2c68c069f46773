package model_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// cycle is the life of a lock: taken, refused, read, extended, released.
var cycle = []redis.Command{
	setIfAbsent("lock", "token-1", s),
	setIfAbsent("lock", "token-2", s),
	on(redis.Get, "lock", ""),
	on(redis.PTTL, "lock", ""),
	pexpire("lock", 2*s),
	on(redis.CompareAndDelete, "lock", "token-1"),
	grant("lock", "token-2", "lock:n", s),
	claim("lock", "token-2", "lock:n", s),
	set("lock", "token-3", s),
	on(redis.Del, "lock", ""),
	on(redis.Incr, "lock:n", ""),
}

func run(server *model.Server, i int) {
	now := time.Duration(i) * ms
	server.Apply(now, i+1, cycle[i%len(cycle)])
	server.NextExpiry()
	server.Effects()
}

func BenchmarkApply(b *testing.B) {
	for name, fsync := range map[string]model.Fsync{"none": model.None, "everysec": model.Everysec} {
		b.Run(name, func(b *testing.B) {
			server := model.New(model.Options{Fsync: fsync})
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				run(server, i)
			}
		})
	}
}

func BenchmarkAppendState(b *testing.B) {
	server := model.New(model.Options{})
	for i := range 7 {
		run(server, i)
	}
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		buf = server.AppendState(buf[:0], 7*ms)
	}
}

// BenchmarkReplicate measures a write and its application on a follower.
func BenchmarkReplicate(b *testing.B) {
	leader, follower := newReplicated()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		run(leader, i)
		for _, w := range leader.Writes() {
			follower.Replicate(time.Duration(i)*ms, w)
		}
	}
}

// A run executes millions of commands, so they must not allocate memory.
func TestApplyDoesNotAllocate(t *testing.T) {
	server := model.New(model.Options{Fsync: model.Everysec})
	i := 0
	step := func() { run(server, i); i++ }
	for range 2000 {
		step() // buffers grow to a second of the log
	}
	if n := testing.AllocsPerRun(2000, step); n != 0 {
		t.Errorf("%v allocations for each command, want none", n)
	}
	leader, follower := newReplicated()
	step = func() {
		run(leader, i)
		for _, w := range leader.Writes() {
			follower.Replicate(time.Duration(i)*ms, w)
		}
		i++
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(2000, step); n != 0 {
		t.Errorf("%v allocations for each command with a follower, want none", n)
	}
}
