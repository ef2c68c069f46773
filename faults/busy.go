package faults

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Where faults strike where runs are dear. Programs that announce no points get
// there, too.
var (
	whileHolding = []Point{
		{Op: history.Acquire, OK: true, After: true},
		{Op: history.Read, Request: 1},
		{Op: history.Write, Request: 1},
		{Op: history.Write, Request: 1, After: true},
	}
	whileAsking = []Point{
		{Op: history.Acquire, Request: 1},
		{Op: history.Release, Request: 1},
	}
)

// usual is how many faults of one kind a run has where runs are dear. Of a kind
// that ends clients most have to stay; servers take long to come back.
func (s *Scope) usual(f Fault) int {
	switch {
	case s.Mixed:
		return 6
	case f.Ends:
		return max(1, len(s.Clients)/2)
	case f.On == OnServer || f.On == OnServers:
		return 3
	}
	return 6
}

// busy draws a schedule for a place where runs are dear, so that one run shows
// what many do elsewhere. In turn faults strike a holder, for longer than T where
// that kind can; a client that asks or gives back; a holder, for as long as is drawn;
// and at any time. They come one after another, each on another server, so that one
// of them strikes the leader, and in the first part of the run: while others wait,
// and with time left to heal.
func busy(s *Scope, f Fault, draw func(int64) int64) (schedule []Injection) {
	count := s.Count
	if count == 0 {
		count = s.usual(f)
	}
	first := draw(int64(len(s.Clients)))
	server := draw(int64(len(s.Servers)))
	for i := range count {
		if s.Mixed && i > 0 {
			f = s.Kinds[draw(int64(len(s.Kinds)))]
		}
		client := s.Clients[int(first+draw(int64(len(s.Clients))))%len(s.Clients)]
		if f.Ends { // the same one dies once
			client = s.Clients[(int(first)+i)%len(s.Clients)]
		}
		in := Injection{Fault: f.Name}
		among, long := whileHolding, i%4 == 0
		if i%4 == 1 {
			among = whileAsking
		}
		if i%4 == 3 {
			in.At = time.Duration(draw(int64(s.Length) * 3 / 4))
		} else {
			p := among[draw(int64(len(among)))]
			from, to := i*s.Acquires*3/(4*count), (i+1)*s.Acquires*3/(4*count)
			p.Client, p.Acquisition = client, 1+from+int(draw(int64(max(1, to-from))))
			in.Point = &p
		}
		f.complete(&in, s.Lease, long, draw)
		struck := s.struck(f, client, (server+int64(i))%int64(len(s.Servers)), draw)
		if f.Need == NeedReplicas {
			struck = struck[:1] // the others have to go on without it
		}
		for _, on := range struck {
			in.On = on
			schedule = append(schedule, in)
		}
	}
	return schedule
}

// complete draws what is open of an injection. A long one lasts longer than T,
// or puts off by more than that, if one of a few draws does.
func (f Fault) complete(in *Injection, t time.Duration, long bool, draw func(int64) int64) {
	if f.Draw == nil {
		return
	}
	for range 8 {
		f.Draw(in, t, draw)
		length := in.For
		if in.Amount != 0 {
			length = in.Amount.Abs()
		}
		if !long || length > t+t/10 {
			return
		}
	}
}
