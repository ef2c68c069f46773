package harness

import (
	"github.com/lockcheck/lockcheck/history"
)

// kill records that clients are about to be killed, and marks them dead in the same
// step: an ok of theirs must not stand after the line.
func (r *recorder) kill(clients []string, e *history.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(e)
	r.markDead(clients)
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
