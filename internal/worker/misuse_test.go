package worker

import (
	"context"
	"strconv"
	"testing"

	"github.com/lockcheck/lockcheck/locks"
)

// lax releases by name, grants out of turn, and grants again to its holder. Each grant
// has the next token; released records the releases.
type lax struct {
	fake
	token    uint64
	released []string
}

type laxLease struct {
	lock  *lax
	token uint64
}

func (l *lax) grant() (locks.Lease, error) {
	l.token++
	return laxLease{l, l.token}, nil
}

func (l *lax) Acquire(context.Context, string) (locks.Lease, error) { return l.grant() }

func (l *lax) AcquireUnfair(context.Context, string) (locks.Lease, error) {
	l.token += 10
	return l.grant()
}

func (l *lax) ReleaseName(_ context.Context, name string) error {
	l.released = append(l.released, name)
	if len(l.released) > 2 {
		return locks.ErrNotHeld
	}
	return nil
}

func (l laxLease) Token() uint64 { return l.token }
func (l laxLease) Release(context.Context) error {
	l.lock.released = append(l.lock.released, strconv.Itoa(int(l.token)))
	return nil
}

func serveLax(t *testing.T) (*pair, *lax) {
	l := &lax{}
	return serveLock(t, func(Setup) locks.Locker { return l }, `,"release-name","unfair"`), l
}

func (l *lax) wants(t *testing.T, want string) {
	t.Helper()
	got := ""
	for _, r := range l.released {
		got += r + " "
	}
	if got != want {
		t.Errorf("released %q, want %q", got, want)
	}
}

func TestReleaseByName(t *testing.T) {
	p, l := serveLax(t)
	p.say(`{"id":2,"op":"release-name","client":"c1","lock":"a"}`)
	p.want(`{"id":2,"ok":true}`)
	p.say(`{"id":3,"op":"acquire","client":"c1","lock":"a"}`)
	p.want(`{"id":3,"ok":true,"token":1}`)
	p.say(`{"id":4,"op":"release-name","client":"c1","lock":"a"}`)
	p.want(`{"id":4,"ok":true}`)
	p.say(`{"id":5,"op":"release","client":"c1","lock":"a"}`) // the client holds nothing now
	p.want(`{"id":5,"ok":false,"error":"not-held","text":"lock not held"}`)
	p.say(`{"id":6,"op":"release-name","client":"c1","lock":"a"}`)
	p.want(`{"id":6,"ok":false,"error":"not-held","text":"lock not held"}`)
	l.wants(t, "a a a ")
}

func TestAcquireOutOfTurn(t *testing.T) {
	p, _ := serveLax(t)
	p.say(`{"id":2,"op":"acquire","client":"c1","lock":"a","unfair":true}`)
	p.want(`{"id":2,"ok":true,"token":11}`)
}

// A worker answers "unsupported" to operations that its lock lacks.
func TestOperationsThatALockLacksAreUnsupported(t *testing.T) {
	p := serve(t, func(Setup) *fake { return &fake{acquire: func(context.Context) error { return nil }} })
	p.say(`{"id":2,"op":"release-name","client":"c1","lock":"a"}`)
	p.want(`{"id":2,"ok":false,"error":"unsupported","text":"release-name"}`)
	p.say(`{"id":3,"op":"acquire","client":"c1","lock":"a","unfair":true}`)
	p.want(`{"id":3,"ok":false,"error":"unsupported","text":"acquire"}`)
}

// A nested grant is released before the outer one. An acquire without "nested" drops a
// grant that came too late.
func TestNestedGrants(t *testing.T) {
	p, l := serveLax(t)
	ask := func(id, more, token string) {
		p.say(`{"id":` + id + `,"op":"acquire","client":"c1","lock":"a"` + more + `}`)
		p.want(`{"id":` + id + `,"ok":true,"token":` + token + `}`)
	}
	read := func(id, token string) {
		p.say(`{"id":` + id + `,"op":"read","client":"c1","lock":"a"}`)
		p.want(`{"id":` + id + `,"token":` + token + `,"do":"resource.read"}`)
		p.say(`{"id":` + id + `,"value":7}`)
		p.want(`{"id":` + id + `,"ok":true,"value":7}`)
	}
	release := func(id string) {
		p.say(`{"id":` + id + `,"op":"release","client":"c1","lock":"a"}`)
		p.want(`{"id":` + id + `,"ok":true}`)
	}
	ask("2", "", "1") // its answer came too late
	ask("3", "", "2")
	ask("4", `,"nested":true`, "3")
	read("5", "3")
	release("6")
	read("7", "2")
	release("8")
	l.wants(t, "3 2 ")
}
