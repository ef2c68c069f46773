package harness

import (
	"github.com/lockcheck/lockcheck/history"
)

// kill records that clients are about to be killed. In one step with the line,
// because what their operations still bring must not stand behind it as certain.
func (r *recorder) kill(clients []string, e *history.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(e)
	r.died(clients)
}

// died takes in that clients are dead. It needs mu.
func (r *recorder) died(clients []string) {
	for _, name := range clients {
		r.processes[name].dead.Store(true)
	}
}

// mates are the clients that share a process with the one called name, itself
// included; none, if that is no client.
func (r *recorder) mates(name string) []string {
	if r.processes[name] == nil {
		return nil
	}
	return r.injector.lock.Mates(r.plan.Clients, name)
}

// ended counts a client's script as done.
func (r *recorder) ended(c *client) {
	r.mu.Lock()
	c.done = true
	r.mu.Unlock()
	r.maybeOver()
}

// maybeOver ends the run with the last script: everything that can be healed
// is. Clients that stand still for good are not waited for, and what becomes of
// them afterwards is not seen.
func (r *recorder) maybeOver() {
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
