package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/locks"
)

// moody is a lock that depends on a counter of the whole process, so that its runs do
// not repeat.
type moody struct {
	locks.Locker
	host locks.Host
	n    *atomic.Int64
}

func (l moody) Acquire(ctx context.Context, name string) (locks.Lease, error) {
	if err := l.host.Sleep(ctx, time.Duration(l.n.Add(1))); err != nil {
		return nil, locks.ErrNotAcquired
	}
	return l.Locker.Acquire(ctx, name)
}

func TestARunThatComesOutOtherwiseIsABug(t *testing.T) {
	lock, _ := catalogue.FindLock("redis-set-lua")
	inner, counter := lock.New, new(atomic.Int64)
	lock.ID = "moody"
	lock.New = func(e catalogue.Env) locks.Locker { return moody{inner(e), e.Host, counter} }

	var stdout, stderr bytes.Buffer
	a := newApp(nil, &stdout, &stderr)
	a.Out.Path = t.TempDir()
	p := a.simulated(t)
	s := &explore.Settings{
		Lock: "moody", Use: &lock, On: "sim", Lease: p.BaseLease(),
		Clients: explore.AnyClients, Acquires: explore.AnyAcquires, Count: explore.AnyCount, Seed: 5, Runs: 100,
	}
	err := a.runLock(p, s, nil, runFlags{}, new(results.Document))
	if code := a.Complain(err); code != bug {
		t.Errorf("exit code %d: %v", code, err)
	}
	for _, words := range []string{"a bug of lockcheck", "seed 5", "its repetition differs", "a lock that draws from"} {
		if !strings.Contains(stderr.String(), words) {
			t.Errorf("%q is not said:\n%s", words, &stderr)
		}
	}
	dir := filepath.Join(a.Out.Path, "moody-none-5-unrepeated")
	var texts [2][]byte
	for i, name := range []string{outdir.FirstFile, outdir.SecondFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := history.Decode(bytes.NewReader(text), name); err != nil {
			t.Error(err)
		}
		texts[i] = text
	}
	if bytes.Equal(texts[0], texts[1]) {
		t.Error("both histories are the same")
	}
	if _, err := os.Stat(filepath.Join(dir, scheduleFile)); err != nil {
		t.Error(err)
	}
}
