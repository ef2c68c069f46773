package bench

// Document is what bench contention and bench fairness print with --json.
type Document struct {
	Schema  int            `json:"schema"`          // version of this document
	Bench   string         `json:"bench"`           // contention or fairness
	On      string         `json:"on"`              // the environment: sim or docker
	Lock    string         `json:"lock,omitempty"`  // the lock, if all cells have the same
	LeaseMS int64          `json:"lease_ms"`        // T, the lease or session time-out, in ms
	Seconds float64        `json:"seconds"`         // how long each cell was measured
	Seed    uint64         `json:"seed,omitempty"`  // seed of every cell, in sim
	Cores   int            `json:"cores,omitempty"` // cores of the machine, where time is real
	Cells   []DocumentCell `json:"cells"`           // the figures, one way or lock after the other, by number of clients
}

// DocumentCell has the measurements with a number of clients.
type DocumentCell struct {
	Waiting      string  `json:"waiting,omitempty"`    // how clients wait, if all cells have the same lock
	Lock         string  `json:"lock,omitempty"`       // the lock, if cells have different ones
	Hold         float64 `json:"hold_seconds"`         // how long each grant is held
	Clients      int     `json:"clients"`              // how many clients there are
	Acquisitions int     `json:"acquisitions"`         // how often the lock was granted
	Commands     int     `json:"commands"`             // commands that clients sent to servers
	Each         float64 `json:"commands_each"`        // commands for each acquisition
	PerSecond    float64 `json:"per_second"`           // acquisitions in a second
	Longest      float64 `json:"longest_wait_seconds"` // the longest that a client waited
	AtLeast      bool    `json:"at_least,omitempty"`   // the longest wait had not ended
	Again        int     `json:"again"`                // acquisitions by the client that just had the lock
	Evenness     float64 `json:"evenness"`             // how evenly grants were spread: 1 where each client got as many, 1/clients where one got all
	Grants       []int   `json:"grants"`               // grants of each client
	OutOfTurn    int     `json:"out_of_turn"`          // acquisitions while another client waited that had asked before
	Overtaken    []int   `json:"overtaken"`            // how often each client was overtaken by them
	Failed       int     `json:"failed,omitempty"`     // operations that failed
}

func NewDocument(c *Comparison) Document {
	d := Document{
		Schema: 1, Bench: c.Name, On: c.On, Lock: c.Lock(), LeaseMS: c.Lease.Milliseconds(),
		Seconds: c.For.Seconds(), Cores: c.Cores, Cells: []DocumentCell{},
	}
	if c.On == "sim" {
		d.Seed = c.Seed
	}
	for i, s := range c.Sides {
		for k, n := range c.Clients {
			f := &c.Cells[i][k]
			if f.Total() == 0 {
				continue // not measured because of an interrupt
			}
			cell := DocumentCell{
				Lock: s.Lock, Hold: s.Hold(c.Lease).Seconds(), Clients: n, Acquisitions: f.Total(), Commands: f.Commands,
				Each: f.CommandsEach(), PerSecond: f.PerSecond(), Longest: f.Longest.Seconds(), AtLeast: f.Waiting,
				Again: f.Again, Evenness: f.Evenness(), Grants: f.Grants,
				OutOfTurn: f.OutOfTurn, Overtaken: f.Overtaken, Failed: f.Failed,
			}
			if d.Lock != "" {
				cell.Waiting, cell.Lock = s.Name, ""
			}
			d.Cells = append(d.Cells, cell)
		}
	}
	return d
}

// HerdDocument is what bench herd prints with --json.
type HerdDocument struct {
	Schema    int          `json:"schema"`          // version of this document
	Bench     string       `json:"bench"`           // herd
	On        string       `json:"on"`              // the environment: sim or docker
	SessionMS int64        `json:"session_ms"`      // session time-out of the clients, in ms
	Seconds   float64      `json:"seconds"`         // how long each cell was measured
	Seed      uint64       `json:"seed,omitempty"`  // seed of every cell, in sim
	Cores     int          `json:"cores,omitempty"` // cores of the machine, where time is real
	Load      []float64    `json:"load,omitempty"`  // load of the machine before and after, where time is real
	Cells     []HerdCell   `json:"cells"`           // the figures, by lock and number of waiters
	Growth    []HerdGrowth `json:"growth"`          // how the figures grow with the number of waiters
}

// HerdCell has the measurements with a number of waiters.
type HerdCell struct {
	Lock      string             `json:"lock"`       // the lock
	Waiters   int                `json:"waiters"`    // how many clients wait in its queue
	HandOvers int                `json:"hand_overs"` // how often the lock went from one client to the next
	Figures   map[string]float64 `json:"figures"`    // the measured values, by the name of the figure; times in ms
}

// HerdGrowth says that a figure of a lock grows as the number of waiters to the
// power of a number.
type HerdGrowth struct {
	Lock   string  `json:"lock"`   // the lock
	Figure string  `json:"figure"` // name of the figure
	Power  float64 `json:"power"`  // the exponent: with 0 the figure does not grow, with 1 twice as many waiters double it
}

func NewHerdDocument(h *Herd) HerdDocument {
	d := HerdDocument{
		Schema: 1, Bench: "herd", On: h.On, SessionMS: h.Lease.Milliseconds(), Seconds: h.For.Seconds(),
		Seed: h.Seed, Cores: h.Cores, Cells: []HerdCell{}, Growth: []HerdGrowth{},
	}
	if h.Load[0] > 0 {
		d.Load = h.Load[:]
	}
	for i, lock := range Queued {
		for k, n := range h.Waiters {
			changes := &h.Cells[i][k]
			if !changes.Measured() {
				continue // not measured because of an interrupt
			}
			c := HerdCell{lock, n, len(changes.Left), map[string]float64{}}
			for _, m := range HerdMeasures {
				c.Figures[m.ID] = m.Of(changes)
			}
			d.Cells = append(d.Cells, c)
		}
		for _, m := range HerdMeasures {
			if power, ok := h.Growth(i, &m); ok {
				d.Growth = append(d.Growth, HerdGrowth{lock, m.ID, power})
			}
		}
	}
	return d
}
