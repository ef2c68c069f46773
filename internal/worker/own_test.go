package worker

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

// user is a lock that a user brings. Its next acquire returns grant and err, and so does
// its release with releases.
type user struct {
	grant    userGrant
	err      error
	releases func(context.Context) error
	tries    bool
	closed   chan struct{}
}

type userGrant struct {
	until  time.Time
	extend func(context.Context) error // nil: it cannot
	token  uint64
	lost   chan struct{}
	lock   *user
}

func (u *user) Acquire(context.Context, string) (userlock.Grant, error) { return u.grant, u.err }
func (u *user) Close() error                                            { close(u.closed); return nil }
func (u *user) Try(context.Context, string) (userlock.Grant, error)     { return u.grant, u.err }
func (u *user) CanTry() bool                                            { return u.tries }

func (g userGrant) Until() time.Time                  { return g.until }
func (g userGrant) Token() uint64                     { return g.token }
func (g userGrant) Lost() <-chan struct{}             { return g.lost }
func (g userGrant) CanExtend() bool                   { return g.extend != nil }
func (g userGrant) Extend(ctx context.Context) error  { return g.extend(ctx) }
func (g userGrant) Release(ctx context.Context) error { return g.lock.releases(ctx) }

const initOwn = `{"id":1,"op":"init","protocol":1,"clients":["c1"],"locks":["a"],"ttl_ms":1000,"targets":{"redis":["127.0.0.1:1"]}}`

// serveUser starts a worker with a user's lock.
func serveUser(t *testing.T) (*pair, *user) {
	u := &user{closed: make(chan struct{}), releases: func(context.Context) error { return nil }}
	u.grant.lock = u
	p := start(t, Own(func(userlock.Site) (userlock.Lock, error) { return u, nil }))
	p.say(initOwn)
	p.want(`{"id":1,"ok":true,"name":"lockcheck","features":["token","deadline","clock"]}`)
	return p, u
}

const acquireOwn = `{"id":2,"op":"acquire","client":"c1","lock":"a","timeout_ms":500}`

// A grant comes with its token and deadline, and accesses carry the token. The user's
// code gets a deadline for its release, too.
func TestOwnGrants(t *testing.T) {
	t.Parallel()
	p, u := serveUser(t)
	u.grant.token, u.grant.until = 7, time.Now().Add(time.Second)
	p.say(acquireOwn)
	a, err := parse([]byte(p.hear()))
	if err != nil || a.Err() != nil || a.Token != 7 || a.ValidMS == nil || *a.ValidMS > 1000 || *a.ValidMS < 500 {
		t.Errorf("acquire: %+v, %v", a, err)
	}
	p.say(`{"id":3,"op":"read","client":"c1","lock":"a"}`)
	p.want(`{"id":3,"token":7,"do":"resource.read"}`)
	p.say(`{"id":3,"value":5}`)
	p.want(`{"id":3,"ok":true,"value":5}`)
	u.releases = func(ctx context.Context) error {
		if _, limited := ctx.Deadline(); !limited {
			t.Error("a release without a deadline")
		}
		return nil
	}
	p.say(`{"id":4,"op":"release","client":"c1","lock":"a"}`)
	p.want(`{"id":4,"ok":true}`)
	u.grant.token, u.grant.until = 0, time.Time{}
	p.say(acquireOwn)
	p.want(`{"id":2,"ok":true}`)
	p.in.Close()
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
	<-u.closed
}

// A lock may also try, and its grants may be extended.
func TestOwnTriesAndExtends(t *testing.T) {
	t.Parallel()
	u := &user{tries: true, closed: make(chan struct{}), err: locks.ErrNotAcquired}
	p := start(t, Own(func(userlock.Site) (userlock.Lock, error) { return u, nil }))
	p.say(initOwn)
	p.want(`{"id":1,"ok":true,"name":"lockcheck","features":["token","deadline","clock","try"]}`)
	p.say(`{"id":2,"op":"try","client":"c1","lock":"a","timeout_ms":500}`)
	p.want(`{"id":2,"ok":false,"error":"held","text":"lock not acquired"}`)
	p.say(`{"id":3,"op":"extend","client":"c1","lock":"a"}`)
	p.want(`{"id":3,"ok":false,"error":"not-held","text":"lock not held"}`)
	var extended error
	u.err, u.grant.extend = nil, func(context.Context) error { return extended }
	p.say(`{"id":4,"op":"try","client":"c1","lock":"a","timeout_ms":500}`)
	p.want(`{"id":4,"ok":true,"extends":true}`)
	p.say(`{"id":5,"op":"extend","client":"c1","lock":"a"}`)
	p.want(`{"id":5,"ok":true}`)
	extended = locks.ErrNotHeld
	p.say(`{"id":6,"op":"extend","client":"c1","lock":"a"}`)
	p.want(`{"id":6,"ok":false,"error":"not-held","text":"lock not held"}`)
	u.grant.extend = nil
	p.say(acquireOwn)
	p.want(`{"id":2,"ok":true}`)
	p.say(`{"id":7,"op":"extend","client":"c1","lock":"a"}`)
	p.want(`{"id":7,"ok":false,"error":"unsupported","text":"extend"}`)
}

// Errors keep their meaning, and mistakes in the user's code are none.
func TestOwnErrors(t *testing.T) {
	t.Parallel()
	p, u := serveUser(t)
	for err, want := range map[error]string{
		locks.ErrNotAcquired:                        `"error":"held","text":"lock not acquired"`,
		errors.New("EOF"):                           `"error":"unknown","text":"EOF"`,
		context.DeadlineExceeded:                    `"error":"timeout","text":"context deadline exceeded"`,
		&userlock.Misuse{Words: "no grant"}:         `"error":"misuse","text":"no grant"`,
		errors.Join(errors.New("x"), net.ErrClosed): `"error":"unknown","text":"x\nuse of closed network connection"`,
	} {
		u.err = err
		p.say(acquireOwn)
		p.want(`{"id":2,"ok":false,` + want + `}`)
	}
	u.err = nil
	p.say(acquireOwn)
	p.want(`{"id":2,"ok":true}`)
	u.releases = func(context.Context) error { return locks.ErrNotHeld }
	p.say(`{"id":3,"op":"release","client":"c1","lock":"a"}`)
	p.want(`{"id":3,"ok":false,"error":"not-held","text":"lock not held"}`)
	p.say(acquireOwn)
	p.want(`{"id":2,"ok":true}`)
	u.releases = func(context.Context) error { panic("boom") }
	p.say(`{"id":4,"op":"release","client":"c1","lock":"a"}`)
	if got := p.hear(); !strings.HasPrefix(got, `{"id":4,"ok":false,"error":"misuse","text":"Release panicked: boom\n`) {
		t.Error(got)
	}
}

// A factory that fails ends the run before it begins.
func TestOwnFactoryFails(t *testing.T) {
	t.Parallel()
	for words, make := range map[string]userlock.Maker{
		"the factory failed: x": func(userlock.Site) (userlock.Lock, error) {
			return nil, &userlock.Misuse{Words: "the factory failed: x"}
		},
		"the factory panicked: x": func(userlock.Site) (userlock.Lock, error) { panic("x") },
	} {
		p := start(t, Own(make))
		p.say(initOwn)
		if got := p.hear(); !strings.HasPrefix(got, `{"id":1,"ok":false,"error":"misuse","text":"`+words) {
			t.Errorf("%s: %s", words, got)
		}
	}
}

// The loss of a grant is reported while it is held, and never after its release began.
func TestOwnLosses(t *testing.T) {
	t.Parallel()
	p, u := serveUser(t)
	u.grant.lost = make(chan struct{})
	p.say(acquireOwn)
	p.want(`{"id":2,"ok":true}`)
	close(u.grant.lost)
	p.want(`{"event":"lost","client":"c1","lock":"a"}`)
	lost := make(chan struct{})
	u.grant.lost = lost
	p.say(acquireOwn)
	p.want(`{"id":2,"ok":true}`)
	u.releases = func(context.Context) error { close(lost); return nil }
	p.say(`{"id":3,"op":"release","client":"c1","lock":"a"}`)
	p.want(`{"id":3,"ok":true}`)
	u.grant.lost = nil
	p.say(acquireOwn)
	p.want(`{"id":2,"ok":true}`)
}

// A client reaches servers through its links only, also those that Sentinels announce.
func TestOwnSites(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	link := server.Addr().String()
	for name, tt := range map[string]struct {
		targets          map[string][]string
		addrs, sentinels []string
		dials            []string
	}{
		"one server":  {map[string][]string{"redis": {link}}, []string{link}, nil, []string{link}},
		"an ensemble": {map[string][]string{"zookeeper": {"127.0.0.1:1", link}}, []string{"127.0.0.1:1", link}, nil, []string{link}},
		"MySQL":       {map[string][]string{"mysql": {link}}, []string{link}, nil, []string{link}},
		"Sentinels": {
			map[string][]string{
				"masters": {"redis-1", "redis-2"}, "sentinels": {link},
				"redis": {"127.0.0.1:1", "127.0.0.1:2", link, "127.0.0.1:4"},
			},
			[]string{"127.0.0.1:1", link},
			[]string{link},
			[]string{link},
		},
	} {
		x := newSite(Setup{Client: "c1", Init: Request{TTLMS: 1000, Targets: tt.targets}})
		if !slices.Equal(x.Addrs(), tt.addrs) || !slices.Equal(x.Sentinels(), tt.sentinels) || x.Lease() != time.Second {
			t.Errorf("%s: %+v", name, x)
			continue
		}
		for _, addr := range tt.dials {
			conn, err := x.DialContext(t.Context(), "tcp", addr)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			conn.Close()
		}
		if _, err := x.DialContext(t.Context(), "tcp", "127.0.0.1:9"); err == nil || !strings.Contains(err.Error(), "no server listens on 127.0.0.1:9") {
			t.Errorf("%s: an unknown address: %v", name, err)
		}
	}
}
