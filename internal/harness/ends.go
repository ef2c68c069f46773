package harness

import (
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// kill records that clients are about to be killed, and marks them dead in the same
// step: an ok of theirs must not stand after the line.
func (r *recorder) kill(clients []string, e *history.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(e)
	r.markDead(clients)
}

// restartTries is how often a killed client is started before the run fails: its code may
// need servers that are away.
const restartTries = 100

// restart starts the killed client of a Go test again, some time later. It returns false if
// the client does nothing more.
func (r *recorder) restart(c *client) bool {
	environment, ok := r.environment.(env.Restarter)
	kills := r.injector.kills(c)
	if !ok || !r.injector.lock.Own || kills == c.kills {
		return false
	}
	// A machine that comes back may find the entry of its earlier life, or miss it.
	wait := r.plan.Lease/20 + time.Duration(c.Rand("restart", int64(2*r.plan.Lease)))
	for tries := 0; ; wait = r.plan.Lease / 20 {
		if !r.slept(wait) || r.injector.stuck(c) {
			return false
		}
		if !r.injector.idle(c) {
			continue
		}
		err := environment.Restart(c.name)
		if err == nil {
			break
		}
		if tries++; tries == restartTries || errors.As(err, new(*env.ProtocolError)) {
			r.injector.fail(err, r.count())
			return false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.process++
	c.process, c.end = r.process, r.environment.Client(c.name)
	c.kills, c.waits, c.asks, c.open = kills, false, 0, c.open[:0]
	c.dead.Store(false)
	r.commit(r.nextOf(c, history.Event, history.Started, 0))
	return true
}

// slept waits for d. It returns false if the run was interrupted meanwhile.
func (r *recorder) slept(d time.Duration) bool {
	until := r.environment.Now() + d
	for range 3 { // a simulation may wake the task once more for its end
		r.environment.Sleep(until - r.environment.Now())
	}
	return r.environment.Now() >= until
}

// markDead marks clients as dead. The caller holds mu.
func (r *recorder) markDead(clients []string) {
	for _, name := range clients {
		r.processes[name].dead.Store(true)
	}
}

// mates returns the clients in the process of the client called name, itself included;
// none if name is not a client.
func (r *recorder) mates(name string) []string {
	if r.processes[name] == nil {
		return nil
	}
	return r.injector.lock.Mates(r.plan.Clients, name)
}

// finishScript marks a client's script as done.
func (r *recorder) finishScript(c *client) {
	r.mu.Lock()
	c.done = true
	r.mu.Unlock()
	r.endIfDone()
}

// endIfDone ends the run after the last script, and heals all faults that end. Clients
// that stand still for good do not count, and nothing is recorded of them afterwards.
func (r *recorder) endIfDone() {
	r.mu.Lock()
	waits := r.over
	for _, c := range r.clients[:len(r.plan.Clients)] {
		waits = waits || !c.done && !r.injector.stuck(c)
	}
	if waits {
		r.mu.Unlock()
		return
	}
	r.over = true
	r.mu.Unlock()
	r.injector.stop()
	r.mu.Lock()
	r.addLocked(&history.Entry{Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: history.Ended})
	r.closed = true
	r.mu.Unlock()
	r.injector.release()
}

func (r *recorder) isOver() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}
