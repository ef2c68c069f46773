package harness

import "fmt"

// The largest values of settings. A run with the most clients and acquires needs some
// 100 MB, and each core executes one run at a time.
const (
	MostClients  = 200
	MostAcquires = 1000 // of each client
	MostFaults   = 1000 // in a run
	MostRuns     = 1_000_000_000
	MostJobs     = 256
)

// A drawn fault may be several injections: one for each server that it strikes. A
// script has several steps for each acquire.
const (
	mostInjections = 10 * MostFaults
	mostSteps      = 10 * MostAcquires
)

// mostName is the largest length of a client's name, in bytes. Many lines of a history
// and of its stories have it.
const mostName = 100

// mostEntries is how many lines the history of a run may have: 2 GB with the memory of
// the judges.
const mostEntries = 1_000_000

// mostBytes is the largest size of a schedule's file. With 1,000,000 lines it has 40
// MB.
const mostBytes = 128 << 20

// checkSize returns an error if a plan exceeds the limits of a run.
func (p *Plan) checkSize() error {
	acquires, steps, name := p.Acquires, 0, 0
	for _, n := range p.Sections {
		acquires = max(acquires, n)
	}
	for _, s := range p.Scripts {
		steps = max(steps, len(s.Steps))
	}
	for _, c := range p.Clients {
		name = max(name, len(c))
	}
	for _, limit := range []struct {
		what    string
		n, most int
	}{
		{"clients", len(p.Clients), MostClients},
		{"acquires of a client", acquires, MostAcquires},
		{"faults", len(p.Faults), mostInjections},
		{"steps of a script", steps, mostSteps},
		{"bytes of a client's name", name, mostName},
	} {
		if limit.n > limit.most {
			return fmt.Errorf("%s: %d, and there can be up to %d", limit.what, limit.n, limit.most)
		}
	}
	return nil
}
