package sim

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// Outside is code of clients that is not made of tasks: it runs in goroutines, in the
// same virtual time. The scheduler and that code never run at the same time.
type Outside interface {
	// Wait lets the code go on until all of it waits. If it then wants something, Wait
	// returns that as functions for the scheduler to call. If not, time passes until the
	// code wants something, but at most to until. now is the time at the end.
	Wait(until time.Duration) (now time.Duration, wants []func())
	// Resumed reports the end of a pause, after all that has arrived meanwhile.
	Resumed(client string)
	// Died reports the end of a client: its code gets no answers any more.
	Died(client string)
	// Front returns the protocol of a Redis server.
	Front(server string) Front
	// Switched reports that a Sentinel has learnt of a new master.
	Switched(sentinel, old, master string)
}

// Front is the protocol of one server: requests of code that is not ours, as words.
type Front interface {
	// Open returns the state of a new connection. It must be comparable.
	Open() any
	// Do serves one request on a connection, and returns its answer; empty: Blocked says
	// what it waits for, if anything. apply executes a step of it on the server's model. An
	// error ends the run: the model lacks something.
	Do(conn any, apply func(redis.Command) redis.Reply, words []string) ([]byte, error)
	// Blocked returns the number of the request for whose answer a connection waits, and
	// the time after which Timeout ends the wait with an answer; 0: there is none.
	Blocked(conn any) (request int, timeout time.Duration)
	Timeout(conn any) []byte
	// Pushes calls send for each message since the last call to a connection that did not
	// ask for it, or has waited for this answer.
	Pushes(send func(conn any, data []byte, answer bool))
	// Changed reports that an entry has ended without a request.
	Changed(key string)
	// Drop reports the end of a connection, Restart that of the server's process.
	Drop(conn any)
	Restart()
}

// letOutsideRun lets the code outside run until the next event is due. What it wants
// are events, too: each may wake a task.
func (k *scheduler) letOutsideRun() {
	until := never
	if len(k.queue.events) > 0 {
		until = k.queue.events[0].at
	}
	now, wants := k.outside.Wait(until)
	k.now = max(k.now, now)
	for _, want := range wants {
		k.push(event{at: k.now, what: action(want)})
	}
}
