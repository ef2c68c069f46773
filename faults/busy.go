package faults

import (
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// Points at which faults strike in an environment where runs are expensive. Clients
// that announce no points of their own reach these, too.
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

// defaultCount returns how many faults of one kind a run has where runs are expensive.
// Most clients must survive a kind that ends clients; servers take long to come back.
func (s *Scope) defaultCount(f Fault) int {
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

// busy draws a schedule for an environment where runs are expensive, so that one run
// shows what many runs show elsewhere. In turn, faults strike a holder for longer than
// T (if the kind can), a client that asks or releases, a holder for any length, and any
// time. They come one after another, each on another server, so that one of them
// strikes the leader. All are in the first three quarters of the run: clients still
// wait then, and there is time to heal.
func busy(s *Scope, f Fault, draw func(int64) int64) (schedule []Injection) {
	count := s.Count
	if count == 0 {
		count = s.defaultCount(f)
	}
	first := draw(int64(len(s.Clients)))
	server := draw(int64(len(s.Servers)))
	for i := range count {
		if s.Mixed && i > 0 {
			f = s.Kinds[draw(int64(len(s.Kinds)))]
		}
		client := s.Clients[int(first+draw(int64(len(s.Clients))))%len(s.Clients)]
		if f.Ends { // no client dies twice
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
		targets := s.targets(f, client, (server+int64(i))%int64(len(s.Servers)), draw)
		if f.Need == NeedReplicas {
			targets = targets[:1] // the other servers must go on without it
		}
		for _, on := range targets {
			in.On = on
			schedule = append(schedule, in)
		}
	}
	return schedule
}

// complete draws what the injection leaves open. For a long one it draws up to 8 times,
// until its duration or its amount exceeds T.
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
