package worker

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/locks"
)

const (
	acquireA = `{"id":2,"op":"acquire","client":"c1","lock":"a"}`
	releaseA = `{"id":3,"op":"release","client":"c1","lock":"a"}`
)

// One task of a client runs at a time; others run while it waits.
func TestTasksTakeTurns(t *testing.T) {
	t.Parallel()
	p := serve(t, func(s Setup) *fake {
		running, most := 0, 0 // guarded by the baton alone: the race detector checks that
		return &fake{acquire: func(context.Context) error {
			var tasks []locks.Task
			for range 20 {
				tasks = append(tasks, s.Host.Go(func(ctx context.Context) {
					for range 50 {
						running++
						most = max(most, running)
						running--
						s.Host.Sleep(ctx, 10*time.Microsecond)
					}
				}))
			}
			for _, task := range tasks {
				task.Wait()
			}
			if most != 1 {
				return errors.New("several tasks ran at once")
			}
			return nil
		}}
	})
	p.say(acquireA)
	p.want(`{"id":2,"ok":true}`)
}

// Stop ends a task's sleep and prevents its requests. The client lives on.
func TestATaskIsStopped(t *testing.T) {
	t.Parallel()
	p := serve(t, func(s Setup) *fake {
		port := s.Redis(echo{})
		return &fake{acquire: func(context.Context) error {
			var slept, sent, after error
			task := s.Host.Go(func(ctx context.Context) {
				slept = s.Host.Sleep(ctx, time.Hour)
				_, sent = port.Incr(ctx, 0, "n")
				_, after = port.Incr(s.Host.Life(), 0, "n")
			})
			task.Stop()
			task.Wait()
			if slept != context.Canceled || !locks.IsDefinite(sent) || after != nil {
				return errors.Join(errors.New("not stopped"), slept, sent, after)
			}
			return nil
		}}
	})
	p.say(acquireA)
	p.want(`{"id":2,"ok":true}`)
}

// Requests of all tasks count for the points of their operation while it is open, later
// ones do not. While one task waits at a point the others go on.
func TestPointsOfTasks(t *testing.T) {
	t.Parallel()
	var background atomic.Int64
	p := serve(t, func(s Setup) *fake {
		port := s.Redis(echo{})
		tokens := s.Tokens(echo{})
		return &fake{
			acquire: func(ctx context.Context) error {
				if _, err := tokens.Incr(ctx, 0, "token"); err != nil { // no step of the lock
					return err
				}
				s.Host.Go(func(ctx context.Context) {
					for {
						if _, err := port.Incr(ctx, 0, "n"); err != nil {
							return
						}
						background.Add(1)
						s.Host.Sleep(ctx, 100*time.Microsecond)
					}
				})
				for background.Load() == 0 {
					s.Host.Sleep(ctx, 100*time.Microsecond)
				}
				_, err := port.Incr(ctx, 0, "mine")
				return err
			},
			lease: fakeLease{release: func(ctx context.Context) error {
				s.Host.Sleep(ctx, 2*time.Millisecond)
				_, err := port.Incr(ctx, 0, "mine")
				return err
			}},
		}
	})
	p.arm(`"f":"acquire","request":2,"onward":true`)
	p.say(acquireA)
	// Both tasks come to a point, in either order: each waits on its own.
	first, second := p.hear(), p.hear()
	for i, line := range []string{first, second} {
		a, err := parse([]byte(line))
		if err != nil || a.Event != EventAt || a.At != int64(i+1) || a.Request != i+2 {
			t.Fatalf("point %d: %s", i+1, line)
		}
	}
	p.say(`{"go":2}`)
	p.say(`{"go":1}`)
	// The background task may come to a point of the acquire until that has answered;
	// the line of the point may come after the answer.
	until := func(answer string) {
		for line := p.hear(); line != answer; line = p.hear() {
			a, err := parse([]byte(line))
			if err != nil || a.Event != EventAt || a.F != "acquire" {
				t.Fatalf("got %s", line)
			}
			p.say(`{"go":` + strconv.FormatInt(a.At, 10) + `}`)
		}
	}
	until(`{"id":2,"ok":true}`)

	go io.WriteString(p.in, `{"id":9,"op":"arm","client":"c1","f":"release","request":1}`+"\n") // while the test reads the points
	until(`{"id":9,"ok":true}`)
	p.say(releaseA)
	line := p.hear()
	a, err := parse([]byte(line))
	if err != nil || a.F != "release" || a.Request != 1 {
		t.Fatalf("the release's request: %s", line)
	}
	for before := background.Load(); background.Load() < before+3; { // they go on while another task waits at a point
		time.Sleep(time.Millisecond)
	}
	p.say(`{"go":` + strconv.FormatInt(a.At, 10) + `}`)
	p.want(`{"id":3,"ok":true}`)
}

// News comes after the answer to its acquire, ends with the loss, and stops once the
// release has begun.
func TestNews(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tell []time.Duration // deadlines from now; 0: lost
		want []string
	}{
		"renewed, and lost": {tell: []time.Duration{time.Second, 0, time.Second}, want: []string{EventExtended, EventLost}},
		"lost at once":      {tell: []time.Duration{0}, want: []string{EventLost}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, func(s Setup) *fake {
				report := func() {
					for _, d := range c.tell {
						if d > 0 {
							d += s.Host.Mono()
						}
						s.Host.Report(locks.News{Until: d})
					}
				}
				return &fake{
					acquire: func(context.Context) error { report(); return nil },
					lease:   fakeLease{release: func(context.Context) error { report(); return nil }},
				}
			})
			p.say(acquireA)
			p.want(`{"id":2,"ok":true}`)
			for _, want := range c.want {
				line := p.hear()
				a, err := parse([]byte(line))
				if err != nil || a.Event != want || a.Client != "c1" || a.Lock != "a" || (want == EventExtended) != (a.ValidMS != nil) {
					t.Errorf("got %s, want %s", line, want)
				}
			}
			p.say(releaseA)
			p.want(`{"id":3,"ok":true}`)
		})
	}
}

// A place in the queue is reported at once, and only while the acquire is open.
func TestAPlaceInTheQueue(t *testing.T) {
	t.Parallel()
	p := serve(t, func(s Setup) *fake {
		report := func() { s.Host.Report(locks.News{Queued: 1}) }
		return &fake{
			acquire: func(context.Context) error {
				s.Host.Report(locks.News{Queued: 8})
				s.Host.Go(func(ctx context.Context) {
					s.Host.Sleep(ctx, time.Millisecond)
					report()
				})
				return nil
			},
			lease: fakeLease{release: func(ctx context.Context) error { return s.Host.Sleep(ctx, 20*time.Millisecond) }},
		}
	})
	p.say(acquireA)
	p.want(`{"event":"queued","client":"c1","lock":"a","position":7}`)
	p.want(`{"id":2,"ok":true}`)
	p.say(releaseA)
	p.want(`{"id":3,"ok":true}`)
}

// News from a task that outlives its operation is about that operation's grant. It is
// dropped if the operation got none, or another grant replaced it.
func TestNewsInTheBackground(t *testing.T) {
	t.Parallel()
	tell := make(chan struct{}, 9)
	told := make(chan struct{}, 9)
	var fails atomic.Bool
	p := serve(t, func(s Setup) *fake {
		return &fake{acquire: func(context.Context) error {
			s.Host.Go(func(ctx context.Context) {
				for len(tell) == 0 {
					s.Host.Sleep(ctx, 100*time.Microsecond)
				}
				<-tell
				s.Host.Report(locks.News{})
				told <- struct{}{}
			})
			if fails.Load() {
				return locks.ErrNotAcquired
			}
			return nil
		}}
	})
	p.say(acquireA)
	p.want(`{"id":2,"ok":true}`)
	tell <- struct{}{}
	p.want(`{"event":"lost","client":"c1","lock":"a"}`)
	<-told
	p.say(acquireA)
	p.want(`{"id":2,"ok":true}`)
	p.say(`{"id":2,"op":"acquire","client":"c1","lock":"b"}`)
	p.want(`{"id":2,"ok":true}`)
	tell <- struct{}{}
	tell <- struct{}{}
	first, second := p.hear(), p.hear()
	if both := first + second; !strings.Contains(both, `"lock":"a"`) || !strings.Contains(both, `"lock":"b"`) {
		t.Errorf("two names: %s, %s", first, second)
	}
	<-told
	<-told
	fails.Store(true)
	p.say(acquireA)
	p.want(`{"id":2,"ok":false,"error":"held","text":"lock not acquired"}`)
	tell <- struct{}{}
	<-told
	p.say(`{"id":4,"op":"juggle","client":"c1","lock":"a"}`)
	p.want(`{"id":4,"ok":false,"error":"unsupported","text":"juggle"}`)
}

// A worker stops its tasks when it ends, and waits for them.
func TestTheWorkerWaitsForItsTasks(t *testing.T) {
	t.Parallel()
	var ended atomic.Bool
	p := serve(t, func(s Setup) *fake {
		return &fake{acquire: func(context.Context) error {
			s.Host.Go(func(ctx context.Context) {
				s.Host.Sleep(ctx, time.Hour)
				time.Sleep(20 * time.Millisecond)
				ended.Store(true)
			})
			return nil
		}}
	})
	p.say(acquireA)
	p.want(`{"id":2,"ok":true}`)
	p.in.Close()
	if err := <-p.ended; err != nil || !ended.Load() {
		t.Errorf("%v; the task has ended: %v", err, ended.Load())
	}
}

// slow is a server that answers at the end of the timeout.
type slow struct{}

func (slow) Do(ctx context.Context, timeout time.Duration, _ redis.Command) (redis.Reply, error) {
	time.Sleep(timeout)
	return redis.Reply{}, context.DeadlineExceeded
}
