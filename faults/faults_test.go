package faults_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// place records the calls of its methods.
type place struct{ done []string }

func (p *place) note(format string, args ...any) error {
	p.done = append(p.done, fmt.Sprintf(format, args...))
	return nil
}
func (p *place) Pause(c string) error   { return p.note("pause %s", c) }
func (p *place) Resume(c string) error  { return p.note("resume %s", c) }
func (p *place) Hang(c string) error    { return p.note("hang %s", c) }
func (p *place) Unhang(c string) error  { return p.note("unhang %s", c) }
func (p *place) Evict(s string) error   { return p.note("evict %s", s) }
func (p *place) Relieve(s string) error { return p.note("relieve %s", s) }
func (p *place) Tamper(s string, how faults.Tampering, nth int) error {
	return p.note("%s entry %d of %s", how, nth, s)
}

func (p *place) ExpireSession(c string) error            { return p.note("expire session of %s", c) }
func (p *place) Rate(h string, gain time.Duration) error { return p.note("rate %s %v", h, gain) }
func (p *place) Isolate(id int, s []string) error        { return p.note("isolate %d %s", id, s) }
func (p *place) Kill(c string) error                     { return p.note("kill %s", c) }
func (p *place) PowerOff(c string) error                 { return p.note("poweroff %s", c) }
func (p *place) Stop(s string, lose bool) error {
	return p.note("stop %s %v", s, lose)
}
func (p *place) Start(s string) error                     { return p.note("start %s", s) }
func (p *place) Jump(s string, by time.Duration) error    { return p.note("jump %s %v", s, by) }
func (p *place) Impair(id int, i faults.Impairment) error { return p.note("impair %d %+v", id, i) }
func (p *place) Restore(id int) (int, error)              { return 7, p.note("restore %d", id) }

func TestEachFaultActsOnItsPlace(t *testing.T) {
	does := map[string][]string{
		"pause":             {"pause c1", "resume c1"},
		"kill":              {"kill c1"},
		"poweroff":          {"poweroff c1"},
		"restart":           {"stop redis-1 false", "start redis-1"},
		"restart-lost":      {"stop redis-1 true", "start redis-1"},
		"server-jump":       {"jump redis-1 3s"},
		"jump":              {"jump c1 3s"},
		"skew":              {"jump c1 3s", "jump c1 -3s"},
		"server-skew":       {"jump redis-1 3s", "jump redis-1 -3s"},
		"rate":              {"rate c1 3s", "rate c1 -3s"},
		"server-rate":       {"rate redis-1 3s", "rate redis-1 -3s"},
		"hang":              {"hang c1", "unhang c1"},
		"server-pause":      {"pause redis-1", "resume redis-1"},
		"failover":          {"stop redis-1 true", "start redis-1"},
		"session-expiry":    {"expire session of c1"},
		"evict":             {"evict redis-1", "relieve redis-1"},
		"entry-lost":        {"remove entry 2 of redis-1"},
		"entry-changed":     {"change entry 2 of redis-1"},
		"partition-servers": {"isolate 5 [redis-1]", "restore 5"},
		"partition":         {"impair 5 {Client:c1 Server:redis-1 Direction:both Action:0 Delay:3s}", "restore 5"},
		"partition-oneway":  {"impair 5 {Client:c1 Server:redis-1 Direction:both Action:0 Delay:3s}", "restore 5"},
		"delay":             {"impair 5 {Client:c1 Server:redis-1 Direction:both Action:1 Delay:3s}", "restore 5"},
		"drop-reply":        {"impair 5 {Client:c1 Server:redis-1 Direction:both Action:2 Delay:3s}", "restore 5"},
		"kill-connection":   {"impair 5 {Client:c1 Server:redis-1 Direction:both Action:3 Delay:3s}", "restore 5"},
	}
	for _, f := range faults.All() {
		if does[f.Name] == nil {
			t.Errorf("%s: add its calls to this test", f.Name)
		}
	}
	for name, want := range does {
		f, ok := faults.Find(name)
		if !ok {
			t.Errorf("no fault %s", name)
			continue
		}
		on := map[faults.Target][]string{faults.OnClient: {"c1"}, faults.OnServer: {"redis-1"}, faults.OnLink: {"c1", "redis-1"}, faults.OnServers: {"redis-1"}}[f.On]
		in := faults.Injection{Fault: name, On: on, Amount: 3 * time.Second, Entry: 2}
		clients, servers := []string{"c1"}, []string{"redis-1"}
		p := &place{}
		if err := in.Validate(clients, servers, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		f.Start(p, 5, in)
		if f.Heal != nil {
			f.Heal(p, 5, in)
		}
		if !slices.Equal(p.done, want) {
			t.Errorf("%s does %q, want %q", name, p.done, want)
		}
	}
}

// keeper is a place whose server zk-1 answers only from its disk.
type keeper struct{ *place }

func (keeper) Keeps(server string) bool { return server == "zk-1" }

func TestAFailoverLosesNothingOnAServerThatKeepsItsData(t *testing.T) {
	f, _ := faults.Find("failover")
	p := &place{}
	f.Start(keeper{p}, 1, faults.Injection{On: []string{"zk-1"}})
	f.Start(keeper{p}, 2, faults.Injection{On: []string{"redis-1"}})
	if want := []string{"stop zk-1 false", "stop redis-1 true"}; !slices.Equal(p.done, want) {
		t.Errorf("it does %q, want %q", p.done, want)
	}
}

func scope(kinds ...faults.Fault) faults.Scope {
	return faults.Scope{
		Kinds: kinds, Count: 3, Clients: []string{"c1", "c2", "c3"}, Servers: []string{"redis-1"},
		Acquires: 4, Lease: 10 * time.Second, Length: 20 * time.Second,
	}
}

// A drawn schedule is valid, has one kind of fault, half of its injections at points,
// and values within the bounds that the fault's description gives. One seed draws it
// twice.
func TestRandomSchedules(t *testing.T) {
	const lease = 10 * time.Second
	bounds := map[string]struct{ least, most, amount time.Duration }{
		"pause":             {lease / 10, 25 * lease / 10, 0},
		"restart":           {2 * lease / 100, 3 * lease / 10, 0},
		"restart-lost":      {2 * lease / 100, 3 * lease / 10, 0},
		"server-jump":       {0, 0, 3 * lease},
		"jump":              {0, 0, 3 * lease},
		"hang":              {lease / 10, 25 * lease / 10, 0},
		"server-pause":      {lease / 10, 25 * lease / 10, 0},
		"skew":              {lease / 10, 25 * lease / 10, 3 * lease},
		"server-skew":       {lease / 10, 25 * lease / 10, 3 * lease},
		"rate":              {lease, 10 * lease, lease / 100},
		"server-rate":       {lease, 10 * lease, lease / 100},
		"failover":          {5 * lease / 10, 15 * lease / 10, 0},
		"evict":             {lease / 10, 5 * lease / 10, 0},
		"partition-servers": {lease / 10, 25 * lease / 10, 0},
		"partition":         {lease / 10, 25 * lease / 10, 0},
		"partition-oneway":  {lease / 10, 25 * lease / 10, 0},
		"delay":             {lease / 10, lease, 25 * lease / 10},
		"drop-reply":        {lease, lease, 0},
		"kill-connection":   {lease, lease, 0},
		"session-expiry":    {0, 0, 0},
		"entry-lost":        {0, 0, 0},
		"entry-changed":     {0, 0, 0},
	}
	for _, f := range faults.All() {
		b, ok := bounds[f.Name]
		if !ok && f.Draw != nil {
			t.Errorf("%s: add its duration and amount to this test", f.Name)
			continue
		}
		points, total := 0, 0
		for seed := range uint64(300) {
			list := faults.Random(scope(f), rand.New(rand.NewPCG(seed, 1)).Int64N)
			if again := faults.Random(scope(f), rand.New(rand.NewPCG(seed, 1)).Int64N); !reflect.DeepEqual(list, again) {
				t.Fatalf("%s: one seed gives two schedules", f.Name)
			}
			if len(list) != 3 {
				t.Fatalf("%s: %d faults", f.Name, len(list))
			}
			for _, in := range list {
				total++
				if in.Fault != f.Name {
					t.Errorf("%s in a run of %s", in.Fault, f.Name)
				}
				if err := in.Validate(scope().Clients, scope().Servers, nil); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
				if in.For < b.least || in.For > b.most {
					t.Errorf("%s lasts %v", f.Name, in.For)
				}
				if in.Amount.Abs() > b.amount || b.amount > 0 && in.Amount == 0 {
					t.Errorf("%s: amount %v", f.Name, in.Amount)
				}
				if in.Point != nil {
					points++
					if in.Point.Acquisition < 1 || in.Point.Acquisition > 4 {
						t.Errorf("%s at the acquisition %d", f.Name, in.Point.Acquisition)
					}
				} else if in.At < 0 || in.At > 20*time.Second {
					t.Errorf("%s at %v", f.Name, in.At)
				}
			}
		}
		if points < total*4/10 || points > total*6/10 {
			t.Errorf("%s: %d of %d at points", f.Name, points, total)
		}
	}
	if faults.Random(scope(), rand.New(rand.NewPCG(1, 1)).Int64N) != nil {
		t.Error("without kinds of faults a schedule is drawn")
	}
}

// Where a run is expensive, the first fault strikes a holder, three faults of four
// strike at a point, and failovers strike one server after another.
func TestBusySchedules(t *testing.T) {
	for _, f := range faults.All() {
		s := scope(f)
		s.Busy, s.Count, s.Acquires, s.Servers = true, 0, 20, []string{"zk-1", "zk-2", "zk-3"}
		for seed := range uint64(100) {
			list := faults.Random(s, rand.New(rand.NewPCG(seed, 1)).Int64N)
			if again := faults.Random(s, rand.New(rand.NewPCG(seed, 1)).Int64N); !reflect.DeepEqual(list, again) {
				t.Fatalf("%s: one seed gives two schedules", f.Name)
			}
			if len(list) == 0 || list[0].Point == nil || list[0].Point.Op == history.Release {
				t.Fatalf("%s: the first fault strikes no holder: %+v", f.Name, list)
			}
			for _, in := range list {
				if err := in.Validate(s.Clients, s.Servers, nil); err != nil {
					t.Errorf("%s: %v", f.Name, err)
				}
			}
			if f.Name != "failover" {
				continue
			}
			var on []string
			for _, in := range list {
				on = append(on, in.On...)
			}
			if slices.Sort(on); !slices.Equal(on, s.Servers) {
				t.Errorf("failovers strike %v, want each server once", on)
			}
		}
	}
}

func TestPoints(t *testing.T) {
	reached := func(request int, after, last bool) faults.Point {
		return faults.Point{Client: "c1", Acquisition: 2, Op: history.Release, Request: request, After: after, Last: last}
	}
	at := func(p faults.Point) faults.Point {
		p.Client, p.Acquisition, p.Op = "c1", 2, history.Release
		return p
	}
	other := at(faults.Point{Request: 1})
	other.Client = "c2"
	later := at(faults.Point{Request: 1})
	later.Acquisition = 3
	sends := reached(7, false, false)
	sends.Command = "SET"
	rare, earlier, tooLate := at(faults.Point{Command: "SET"}), at(faults.Point{Command: "SET"}), at(faults.Point{Command: "SET"})
	earlier.Acquisition, tooLate.Acquisition = 1, 3
	for _, tt := range []struct {
		name    string
		p       faults.Point
		reached faults.Point
		steps   int
		want    bool
	}{
		{"the request itself", at(faults.Point{Request: 1}), reached(1, false, false), 2, true},
		{"another request", at(faults.Point{Request: 2}), reached(1, false, false), 2, false},
		{"after is not before", at(faults.Point{Request: 1, After: true}), reached(1, false, false), 2, false},
		{"the last", at(faults.Point{Last: true}), reached(2, false, true), 2, true},
		{"not yet the last", at(faults.Point{Last: true}), reached(1, false, false), 2, false},
		{"a request that the operation lacks is its last", at(faults.Point{Request: 2}), reached(1, false, true), 1, true},
		{"also after it", at(faults.Point{Request: 2, After: true}), reached(1, true, true), 1, true},
		{"unless the request is exact", at(faults.Point{Request: 2, Exact: true}), reached(1, false, true), 1, false},
		{"an exact request that comes", at(faults.Point{Request: 2, Exact: true}), reached(2, false, false), 1, true},
		{"a command", rare, sends, 2, true},
		{"another command", at(faults.Point{Command: "DEL"}), sends, 2, false},
		{"after a command is not before it", at(faults.Point{Command: "SET", After: true}), sends, 2, false},
		{"a command in a later critical section", earlier, sends, 2, true},
		{"a command in an earlier critical section", tooLate, sends, 2, false},
		{"another client", other, reached(1, false, false), 2, false},
		{"another critical section", later, reached(1, false, false), 2, false},
		{"a point at ok is not reached by a request", at(faults.Point{OK: true, After: true}), reached(2, true, true), 2, false},
		{"a point at a request is not reached by ok", at(faults.Point{Last: true, After: true}), at(faults.Point{OK: true, After: true}), 2, false},
		{"ok", at(faults.Point{OK: true, After: true}), at(faults.Point{OK: true, After: true}), 2, true},
	} {
		if got := tt.p.At(tt.reached, tt.steps); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}

// A story tells each fault in words of its own, not by its name.
func TestEveryFaultHasWords(t *testing.T) {
	for _, f := range faults.All() {
		if f.Words.Past == "" || f.Words.Now == "" || f.Words.Lane == "" && !f.Ends {
			t.Errorf("%s: say in its Words how it is told", f.Name)
		}
	}
}

func TestAvailable(t *testing.T) {
	for _, f := range faults.All() {
		if err := f.Available([]faults.Need{faults.NeedClock, faults.NeedStop, faults.NeedRate, faults.NeedClientClock, faults.NeedReplicas, faults.NeedSessions, faults.NeedMemory, faults.NeedValues, faults.NeedServers}); err != nil {
			t.Errorf("%s: %v", f.Name, err)
		}
		server := f.On == faults.OnServer || f.On == faults.OnServers
		if err := f.Available(nil); (err == nil) != (f.Need == "" && !server) {
			t.Errorf("%s without anything: %v", f.Name, err)
		}
	}
}

// On a user's own servers the faults are those of clients and links.
func TestFaultsThatNeedNothingFromServers(t *testing.T) {
	var got []string
	for _, f := range faults.All() {
		if f.Available(faults.Offers("external", true)) == nil {
			got = append(got, f.Name)
		}
	}
	want := "pause kill poweroff hang skew jump rate partition partition-oneway delay drop-reply kill-connection"
	if strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	f, _ := faults.Find("failover")
	if err := f.Available(faults.Offers("external", true)); err == nil || !strings.Contains(err.Error(), "servers that lockcheck starts itself") {
		t.Error(err)
	}
}
