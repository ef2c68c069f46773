package report

import (
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// table is the operations of clients, in the order of their invokes.
type table struct {
	Head string     // of the first column: the line in a file of lockcheck, else the number of the entry
	Rows [][]string // a column each; see the head in web/run.html
	Left int        // operations that are left out
}

// mostRows is the largest number of operations in a table. Of a longer history it has
// those around what a witness, a fault or a loss is about.
const mostRows = 20_000

// mostBytes is about the largest size of a table.
const mostBytes = 2 << 20

// around is how many lines before and after such a line are in the table.
const around = 200

// newTable returns the table of a history.
func newTable(h *history.History, verdicts []checker.Verdict) (t table) {
	keep := func(int) bool { return true }
	operations := 0
	for i := range h.Entries {
		if e := &h.Entries[i]; e.Process.Client() && e.Type == history.Invoke {
			operations++
		}
	}
	if operations > mostRows {
		keep = near(h, verdicts)
	}
	row := map[history.Process]int{} // of the open operation
	number, bytes := 1, 0
	if t.Head = "entry"; h.Header.Version != "" {
		t.Head, number = "line", 2 // the first line is the header
	}
	u := newUnits(h.Header.Lease())
	for i := range h.Entries {
		e := &h.Entries[i]
		switch {
		case !e.Process.Client():
		case e.Type == history.Invoke:
			delete(row, e.Process)
			if !keep(i) || len(t.Rows) >= mostRows || bytes > mostBytes {
				t.Left++
				continue
			}
			row[e.Process] = len(t.Rows)
			t.Rows = append(t.Rows, []string{strconv.Itoa(i + number), u.exact(e.Time), name(client(e)), e.F, name(e.Lock), written(e.Value), "open", "", "", ""})
			bytes += 120 + 2*len(t.Rows[len(t.Rows)-1][2]) + len(t.Rows[len(t.Rows)-1][4])
		case e.Type == history.OK || e.Type == history.Fail || e.Type == history.Info:
			n, ok := row[e.Process]
			if !ok {
				continue
			}
			delete(row, e.Process)
			r := t.Rows[n]
			r[6], r[7] = answered[e.Type], u.exact(e.Time)
			if e.Value.Set {
				r[5] = written(e.Value)
			}
			if e.Token != 0 {
				r[8] = strconv.FormatUint(e.Token, 10)
			}
			if r[9] = e.Error; e.Text != "" && e.Text != e.Error {
				r[9] += ": " + e.Text
			}
			if r[9] = name(r[9]); e.Type == history.OK && e.ValidUntil > time.Duration(0) {
				r[9] = "lease until " + u.exact(e.ValidUntil)
			}
		}
	}
	return t
}

var answered = map[history.Type]string{history.OK: "yes", history.Fail: "no", history.Info: "unknown"}

// near reports for each line whether it is close to one that a witness, a fault or a
// loss is about.
func near(h *history.History, verdicts []checker.Verdict) func(int) bool {
	marked := make([]bool, len(h.Entries))
	mark := func(pos int) {
		for i := max(pos-around, 0); i < min(pos+around, len(marked)); i++ {
			marked[i] = true
		}
	}
	for _, v := range verdicts {
		if v.Witness != nil {
			for _, pos := range v.Witness.Entries {
				mark(pos)
			}
		}
	}
	for i := range h.Entries {
		if e := &h.Entries[i]; e.Process.Name == history.Nemesis || e.F == history.Lost || e.F == history.Lose {
			mark(i)
		}
	}
	return func(pos int) bool { return marked[pos] }
}

// written returns a value; "": there is none.
func written(o history.Opt) string {
	if !o.Set {
		return ""
	}
	return strconv.FormatInt(o.V, 10)
}
