package harness

// The largest numbers that settings can have. A run of so many clients and
// acquisitions takes some hundred MB, and each core does one at a time.
const (
	MostClients  = 200
	MostAcquires = 1000 // of each client
	MostFaults   = 1000 // in a run
	MostRuns     = 1_000_000_000
	MostJobs     = 256
)
