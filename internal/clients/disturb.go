package clients

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/faults"
)

// disturbances are the present disturbances of the links.
type disturbances struct {
	mu      sync.Mutex
	list    []*disturbance
	changed chan struct{} // closed and replaced when list changes
	struck  func(id int)  // see env.OneShot; nil: nobody asked
}

// disturbance is an impairment in force.
type disturbance struct {
	faults.Impairment
	id   int
	hits int
}

func newDisturbances() *disturbances { return &disturbances{changed: make(chan struct{})} }

// begin begins an impairment.
func (d *disturbances) begin(id int, im faults.Impairment) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, &disturbance{Impairment: im, id: id})
	d.signal()
}

// end ends an impairment and releases the messages that it holds.
func (d *disturbances) end(id int) (hits int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	i := slices.IndexFunc(d.list, func(x *disturbance) bool { return x.id == id })
	if i < 0 {
		return 0, fmt.Errorf("no disturbance %d is in force", id)
	}
	hits = d.list[i].hits
	d.list = slices.Delete(d.list, i, i+1)
	d.signal()
	return hits, nil
}

func (d *disturbances) signal() {
	close(d.changed)
	d.changed = make(chan struct{})
}

// way is one direction between a client and a server.
type way struct {
	client, server string
	to             faults.Direction // ToServer or ToClient
}

func (x *disturbance) on(w way) bool {
	return x.Client == w.client && x.Server == w.server && (x.Direction == faults.Both || x.Direction == w.to)
}

// Kind is the kind of a message.
type Kind uint8

const (
	Effect  Kind = iota // has an effect: Swallow and Reset wait for such a message
	Library             // a library's own: it sets up or keeps a connection, or is an event
	end                 // ends a direction; not counted as touched
)

// delay returns how much longer a message travels that is sent now.
func (d *disturbances) delay(w way, s Kind) (by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.list {
		if x.Action == faults.Slow && x.on(w) {
			if s != end {
				x.hits++
			}
			by += x.Delay
		}
	}
	return by
}

// fate is the outcome of a message that has travelled.
type fate uint8

const (
	arrives fate = iota
	swallowed
	resets
	abandoned // its receiver no longer waits
)

// arrive returns the fate of a message when no disturbance holds it any more, or
// abandoned when stop is closed.
func (d *disturbances) arrive(w way, s Kind, stop <-chan struct{}) fate {
	var heldBy []*disturbance // so that each counts the message once
	for {
		held, f, changed := d.look(w, s, heldBy)
		if held == nil {
			return f
		}
		heldBy = append(heldBy, held)
		select {
		case <-stop:
			return abandoned
		case <-changed:
		}
	}
}

func (d *disturbances) look(w way, s Kind, before []*disturbance) (held *disturbance, f fate, changed <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, x := range d.list {
		switch {
		case !x.on(w):
		case x.Action == faults.Hold:
			if s != end && !slices.Contains(before, x) {
				x.hits++
			}
			return x, arrives, d.changed
		case x.Action == faults.Swallow && x.hits == 0 && s == Effect:
			d.strike(x)
			return nil, swallowed, nil
		case x.Action == faults.Reset && x.hits == 0 && s == Effect:
			d.strike(x)
			return nil, resets, nil
		}
	}
	return nil, arrives, nil
}

// strike notes that a disturbance has struck the one message that it waited for. The
// caller holds mu.
func (d *disturbances) strike(x *disturbance) {
	x.hits++
	if d.struck != nil {
		go d.struck(x.id)
	}
}
