package harness

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"time"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/env"
)

// Walk is one way through a plan in which order decides, up to a state.
type Walk struct {
	Path    []uint8 // the positions of the steps to take
	Faults  int     // how many of the plan's faults may strike; 0: all
	Monitor Monitor // gets every entry
	// Arrived is called at the end of Path, and may return a further step.
	Arrived func() (step uint8, on bool)

	// The end of the walk:
	State State
	Steps int // that can be taken from there; 0: the run is over
	// Rest is State without the clients and the messages.
	Rest State
	// Local are the steps after which only one client knows more than before.
	Local []Local
}

// Local is a step in which a client learns something, and the offered faults that
// concern this client, by their positions.
type Local struct {
	Step   uint8
	Faults uint64 // one bit for each
}

// Monitor judges during a run. Its verdict and its state are part of the state of the
// run.
type Monitor interface {
	Reset(h history.Header)
	Add(e *history.Entry)
	AppendState(b []byte, now time.Duration) []byte
	// AppendCall appends what the monitor knows about the operation with that index,
	// which has a request on its way.
	AppendCall(b []byte, index int, now time.Duration) []byte
}

// State identifies a state: 128 bits of a hash, the same in every process.
type State [16]byte

// Follow executes a walk.
func (b *Buffer) Follow(plan *Plan, w *Walk) error {
	w.Monitor.Reset(plan.header(b.world.Observes()))
	pick := func(env.Crossing) int {
		b.look(w)
		if step, on := w.Arrived(); on {
			return int(step)
		}
		return -1
	}
	b.recorder.most = w.Faults
	_, err := b.Simulate(plan, env.Decisions{Path: w.Path, Pick: pick}, w.Monitor.Add)
	switch {
	case errors.Is(err, env.ErrStopped):
		return nil
	case err == nil:
		b.look(w)
		w.Arrived()
	}
	return err
}

// look records the end of a walk.
func (b *Buffer) look(w *Walk) {
	world := b.world
	w.Steps, w.Local = world.Steps(), w.Local[:0]
	for i := range w.Steps {
		if w.Steps > 64 {
			break // no bits for the last ones
		}
		client := world.Learns(i)
		if client == "" {
			continue
		}
		local := Local{Step: uint8(i)}
		for j := range w.Steps {
			if world.Concerns(j, client) {
				local.Faults |= 1 << j
			}
		}
		w.Local = append(w.Local, local)
	}
	b.bytes = b.rest(b.bytes[:0], w.Monitor)
	w.Rest = hash(b.bytes)
	b.bytes = world.AppendState(b.bytes)
	for _, index := range world.Underway() {
		b.bytes = w.Monitor.AppendCall(b.bytes, index, world.Now())
	}
	w.State = hash(b.bytes)
}

// Names returns the names of a walk's steps, and the positions of the plan's faults
// that struck.
func (b *Buffer) Names(plan *Plan, w *Walk) (names []string, struck []int, err error) {
	names = []string{}
	pick := func(at env.Crossing) int {
		if len(names) == len(w.Path) {
			return -1
		}
		next := w.Path[len(names)]
		names = append(names, at.StepName(int(next)))
		return int(next)
	}
	b.recorder.most = w.Faults
	_, err = b.Simulate(plan, env.Decisions{Pick: pick}, nil)
	for i := range b.recorder.injector.injections {
		if b.recorder.injector.injections[i].started {
			struck = append(struck, i)
		}
	}
	if errors.Is(err, env.ErrStopped) {
		err = nil
	}
	return names, struck, err
}

// rest appends the state beside the clients and the network.
func (b *Buffer) rest(s []byte, m Monitor) []byte {
	r, w := &b.recorder, b.world
	s = w.AppendServers(s)
	s = binary.AppendVarint(s, r.guarded.Value())
	s = binary.AppendUvarint(s, r.guarded.Highest())
	for i := range r.injector.injections {
		it := &r.injector.injections[i]
		switch {
		case !it.started:
			s = append(s, 0)
		case it.ended || !it.ends():
			s = append(s, 1)
		default:
			s = append(s, 2)
		}
	}
	s = append(s, flag(r.askedAgain))
	return m.AppendState(s, w.Now())
}

func hash(b []byte) State {
	sum := sha256.Sum256(b)
	return State(sum[:len(State{})])
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}
