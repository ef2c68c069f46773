package harness

import "fmt"

// The largest numbers that settings can have. A run of so many clients and
// acquisitions takes some hundred MB, and each core does one at a time.
const (
	MostClients  = 200
	MostAcquires = 1000 // of each client
	MostFaults   = 1000 // in a run
	MostRuns     = 1_000_000_000
	MostJobs     = 256
)

// A drawn fault may be several in a schedule: one for each server that it strikes.
// A script has several steps for each acquisition.
const (
	mostInjections = 10 * MostFaults
	mostSteps      = 10 * MostAcquires
)

// mostEntries is how many lines the history of a run may have: with what the judges
// need, 2 GB.
const mostEntries = 1_000_000

// mostBytes is how large the file of a schedule may be; that of a run with 1,000,000 lines has 40 MB.
const mostBytes = 128 << 20

// spender is a Place that ends a run which has used up a budget.
type spender interface{ Spend(words string) }

// tooMuch returns an error if a schedule asks for more than a run can have.
func (p *Plan) tooMuch() error {
	acquires, steps := p.Acquires, 0
	for _, n := range p.Sections {
		acquires = max(acquires, n)
	}
	for _, s := range p.Scripts {
		steps = max(steps, len(s.Steps))
	}
	for _, limit := range []struct {
		what    string
		n, most int
	}{
		{"clients", len(p.Clients), MostClients},
		{"acquires of a client", acquires, MostAcquires},
		{"faults", len(p.Faults), mostInjections},
		{"steps of a script", steps, mostSteps},
	} {
		if limit.n > limit.most {
			return fmt.Errorf("%s: %d, and there can be up to %d", limit.what, limit.n, limit.most)
		}
	}
	return nil
}
