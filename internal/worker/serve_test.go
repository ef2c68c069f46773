package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

// fake is a lock with the operations of a test.
type fake struct {
	acquire func(ctx context.Context) error
	lease   fakeLease
}

type fakeLease struct {
	token   uint64
	until   time.Duration
	release func(ctx context.Context) error
}

func (l fakeLease) Token() uint64                     { return l.token }
func (l fakeLease) Until() time.Duration              { return l.until }
func (l fakeLease) Release(ctx context.Context) error { return l.release(ctx) }

func (f *fake) Acquire(ctx context.Context, _ string) (locks.Lease, error) {
	if err := f.acquire(ctx); err != nil {
		return nil, err
	}
	return f.lease, nil
}
func (f *fake) Close(context.Context) error { return nil }

// pair is a worker and the test's end of its streams.
type pair struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Scanner
	ended chan error
}

// serve starts a worker with client c1 and the lock from create, and waits for its answer
// to init.
func serve(t *testing.T, create func(Setup) *fake) *pair {
	return serveLock(t, func(s Setup) locks.Locker { return create(s) }, "")
}

// serveLock does the same for any lock with the additional features more.
func serveLock(t *testing.T, create func(Setup) locks.Locker, more string) *pair {
	pointed := make(chan bool, 1)
	p := start(t, func(s Setup) (locks.Locker, func() error, error) {
		l := create(s)
		pointed <- s.client.points
		return l, func() error { return nil }, nil
	})
	p.say(`{"id":1,"op":"init","protocol":1,"clients":["c1"],"locks":["a"],"ttl_ms":1000}`)
	if <-pointed {
		more = `,"points"` + more
	}
	p.want(`{"id":1,"ok":true,"name":"lockcheck","features":["token","deadline","clock","clock-set"` + more + `]}`)
	return p
}

// start starts a worker.
func start(t *testing.T, f Factory) *pair {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	p := &pair{t: t, in: inW, lines: bufio.NewScanner(outR), ended: make(chan error, 1)}
	go func() {
		err := Serve(context.Background(), inR, outW, f)
		outW.Close()
		p.ended <- err
	}()
	t.Cleanup(func() { inW.Close() })
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *pair) say(line string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, line+"\n"); err != nil {
		p.t.Fatal(err)
	}
}

func (p *pair) hear() string {
	p.t.Helper()
	if !p.lines.Scan() {
		p.t.Fatalf("the worker has ended: %v", p.lines.Err())
	}
	return p.lines.Text()
}

func (p *pair) want(line string) {
	p.t.Helper()
	if got := p.hear(); got != line {
		p.t.Errorf("the worker wrote\n  %s\nwant\n  %s", got, line)
	}
}

// arm arms a point of client c1.
func (p *pair) arm(q string) {
	p.t.Helper()
	p.say(`{"id":9,"op":"arm","client":"c1",` + q + `}`)
	p.want(`{"id":9,"ok":true}`)
}

func TestErrorsHaveWords(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]string{
		locks.ErrNotAcquired: `"error":"held","text":"lock not acquired"`,
		locks.ErrNotHeld:     `"error":"not-held","text":"lock not held"`,
		locks.ErrLost:        `"error":"lost","text":"lock lost"`,
		locks.Definite(errors.New("cannot connect")):   `"error":"unavailable","text":"cannot connect"`,
		errors.New("connection reset"):                 `"error":"unknown","text":"connection reset"`,
		context.DeadlineExceeded:                       `"error":"timeout","text":"context deadline exceeded"`,
		locks.Definite(context.DeadlineExceeded):       `"error":"unavailable","text":"context deadline exceeded"`,
		errors.Join(errors.New("x"), locks.ErrNotHeld): `"error":"not-held","text":"x\nlock not held"`,
	} {
		p := serve(t, func(Setup) *fake { return &fake{acquire: func(context.Context) error { return err }} })
		p.say(`{"id":2,"op":"acquire","client":"c1","lock":"a","timeout_ms":100}`)
		p.want(`{"id":2,"ok":false,` + want + `}`)

		var a Answer
		if e := json.Unmarshal([]byte(`{"id":2,"ok":false,`+want+`}`), &a); e != nil {
			t.Fatal(e)
		}
		if got := a.Err(); locks.IsDefinite(got) != locks.IsDefinite(err) {
			t.Errorf("%v is read as %v: definite %v", err, got, locks.IsDefinite(got))
		}
	}
}

// Both ends of the resource's protocol, a token above 2^53, and a deadline that is not
// reported too late.
func TestOperations(t *testing.T) {
	t.Parallel()
	const token = 1<<63 - 1
	var until time.Duration
	p := serve(t, func(s Setup) *fake {
		until = s.Host.Mono() + time.Second
		return &fake{
			acquire: func(context.Context) error { return nil },
			lease: fakeLease{
				token:   token,
				until:   until,
				release: func(context.Context) error { return nil },
			},
		}
	})
	p.say(`{"id":2,"op":"acquire","client":"c1","lock":"a"}`)
	a, err := parse([]byte(p.hear()))
	if err != nil || a.Err() != nil || a.Token != token {
		t.Fatalf("acquire: %+v, %v", a, err)
	}
	if told := time.Duration(*a.MonoNS) + time.Duration(*a.ValidMS)*time.Millisecond; told > until || told <= until-2*time.Millisecond {
		t.Errorf("valid until %v, reported %v", until, told)
	}
	p.say(`{"id":3,"op":"read","client":"c1","lock":"a"}`)
	p.want(`{"id":3,"token":9223372036854775807,"do":"resource.read"}`)
	p.say(`{"id":3,"value":0}`)
	p.want(`{"id":3,"ok":true,"value":0}`)
	p.say(`{"id":4,"op":"write","client":"c1","lock":"a","value":1}`)
	p.want(`{"id":4,"token":9223372036854775807,"value":1,"do":"resource.write"}`)
	p.say(`{"id":4,"error":"stale-token"}`)
	p.want(`{"id":4,"ok":false,"error":"stale-token"}`)
	p.say(`{"id":5,"op":"release","client":"c1","lock":"a"}`)
	p.want(`{"id":5,"ok":true}`)
	p.say(`{"id":6,"op":"release","client":"c1","lock":"a"}`)
	p.want(`{"id":6,"ok":false,"error":"not-held","text":"lock not held"}`)
	p.say(`{"id":7,"op":"juggle","client":"c1","lock":"a"}`)
	p.want(`{"id":7,"ok":false,"error":"unsupported","text":"juggle"}`)
	p.say(`{"id":8,"op":"acquire","client":"c9","lock":"a"}`)
	p.want(`{"id":8,"ok":false,"error":"bad-request","text":"no client \"c9\""}`)
}

// echo is a server that answers at once.
type echo struct{}

func (echo) Do(context.Context, time.Duration, redis.Command) (redis.Reply, error) {
	return redis.Reply{Kind: redis.Int, Int: 1}, nil
}

// A client waits only at an armed point, and only in the next operation of that name.
func TestPoints(t *testing.T) {
	t.Parallel()
	var sent atomic.Int64
	p := serve(t, func(s Setup) *fake {
		port := s.Redis(echo{})
		return &fake{acquire: func(ctx context.Context) error {
			for range 3 {
				if _, err := port.Incr(ctx, 0, "k"); err != nil {
					return err
				}
				sent.Add(1)
			}
			return nil
		}}
	})
	p.arm(`"f":"acquire","request":2`)
	p.arm(`"f":"acquire","request":3,"onward":true,"after":true`)
	p.say(`{"id":2,"op":"acquire","client":"c1","lock":"a"}`)
	p.want(`{"event":"at","client":"c1","at":1,"f":"acquire","request":2,"sends":"INCR","sent":"INCR"}`)
	if n := sent.Load(); n != 1 {
		t.Errorf("%d requests were answered before request 2", n)
	}
	p.say(`{"go":1}`)
	p.want(`{"event":"at","client":"c1","at":2,"f":"acquire","request":3,"after":true,"sends":"INCR"}`)
	p.say(`{"id":3,"op":"acquire","client":"c1","lock":"a"}`)
	p.want(`{"id":3,"ok":false,"error":"bad-request","text":"the client has not answered its last request yet"}`)
	p.say(`{"go":2}`)
	p.want(`{"id":2,"ok":true}`)
	p.say(`{"id":4,"op":"acquire","client":"c1","lock":"a"}`)
	p.want(`{"id":4,"ok":true}`)
}

// late is a server that answers the key "late" after the others.
type late chan struct{}

func (l late) Do(_ context.Context, _ time.Duration, c redis.Command) (redis.Reply, error) {
	if c.Key == "late" {
		<-l
	}
	return redis.Reply{Kind: redis.Int, Int: 1}, nil
}

// After the last of requests that are sent side by side, all have their answers.
func TestPointAfterTheLastAnswer(t *testing.T) {
	t.Parallel()
	held := make(late)
	var answered atomic.Int64
	p := serve(t, func(s Setup) *fake {
		port := s.Redis(held)
		return &fake{acquire: func(ctx context.Context) error {
			var tasks []locks.Task
			for _, key := range []string{"late", "soon", "sooner"} {
				tasks = append(tasks, s.Host.Go(func(context.Context) {
					port.Incr(ctx, 0, key)
					if answered.Add(1) == 2 {
						close(held)
					}
				}))
			}
			for _, task := range tasks {
				task.Wait()
			}
			return nil
		}}
	})
	p.arm(`"f":"acquire","request":3,"onward":true,"after":true`)
	p.say(`{"id":2,"op":"acquire","client":"c1","lock":"a"}`)
	p.want(`{"event":"at","client":"c1","at":1,"f":"acquire","request":3,"after":true,"sends":"INCR"}`)
	if n := answered.Load(); n != 2 {
		t.Errorf("%d requests were answered before the last", n)
	}
	p.say(`{"go":1}`)
	p.want(`{"id":2,"ok":true}`)
}

// When its input ends a worker cancels open operations, and ends.
func TestEndOfInput(t *testing.T) {
	t.Parallel()
	p := serve(t, func(s Setup) *fake {
		return &fake{acquire: func(ctx context.Context) error { return s.Host.Sleep(ctx, time.Hour) }}
	})
	p.say(`{"id":2,"op":"acquire","client":"c1","lock":"a"}`)
	p.in.Close()
	for p.lines.Scan() {
		if !strings.Contains(p.lines.Text(), `"error":"unknown"`) {
			t.Errorf("the answer of a cancelled operation: %s", p.lines.Text())
		}
	}
	if err := <-p.ended; err != nil {
		t.Error(err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Token{`34`: 34, `"34"`: 34, `"9223372036854775807"`: 1<<63 - 1, `0`: 0} {
		var got Token
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s: %d, %v", text, got, err)
		}
	}
	for _, text := range []string{`-1`, `9223372036854775808`, `1.5`, `"x"`, `true`} {
		var got Token
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is read as %d", text, got)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	for _, line := range []string{``, `hello`, `{}`, `[1]`, `{"id":3}`, `{"ok":true}`, `{"id":"x","ok":true}`} {
		if a, err := parse([]byte(line)); err == nil {
			t.Errorf("%q is read as %+v", line, a)
		}
	}
	if a, err := parse([]byte(`{"id":1,"ok":true,"more":{"x":1}}`)); err != nil || a.Err() != nil {
		t.Errorf("an unknown field: %v", err)
	}
}

// Only a lock whose requests go through the worker has points.
func TestPointsAreAnnouncedIfThereAreSome(t *testing.T) {
	t.Parallel()
	for want, create := range map[bool]func(Setup) *fake{
		true:  func(s Setup) *fake { s.Redis(nil); return &fake{} },
		false: func(Setup) *fake { return &fake{} },
	} {
		p := start(t, func(s Setup) (locks.Locker, func() error, error) {
			return create(s), func() error { return nil }, nil
		})
		p.say(`{"id":1,"op":"init","protocol":1,"clients":["c1"],"locks":["a"],"ttl_ms":1000}`)
		if got := p.hear(); strings.Contains(got, `"points"`) != want {
			t.Errorf("%s, want points: %v", got, want)
		}
	}
}
