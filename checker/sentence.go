package checker

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

func violated(p Property, w *Witness) Verdict {
	return Verdict{Property: p, Outcome: Violated, Witness: w}
}

func valid(p Property) Verdict { return Verdict{Property: p, Outcome: Valid} }

func unknown(p Property, reason string) Verdict {
	return Verdict{Property: p, Outcome: Unknown, Reason: reason}
}

func notApplicable(p Property, reason string) Verdict {
	return Verdict{Property: p, Outcome: NA, Reason: reason}
}

// witness sorts the positions and leaves out absent and repeated ones.
func witness(entries []int32, format string, args ...any) *Witness {
	w := &Witness{Sentence: fmt.Sprintf(format, args...), Entries: make([]int, 0, len(entries))}
	for _, pos := range entries {
		if pos != none {
			w.Entries = append(w.Entries, int(pos))
		}
	}
	slices.Sort(w.Entries)
	w.Entries = slices.Compact(w.Entries)
	return w
}

// seconds formats d for people, to the millisecond: "0.003 s". Shorter times have one
// or two digits: "0.42 ms".
func seconds(d time.Duration) string {
	if ms := float64(d) / float64(time.Millisecond); d != 0 && -1 < ms && ms < 1 {
		return strconv.FormatFloat(ms, 'g', 2, 64) + " ms"
	}
	return strconv.FormatFloat(d.Round(time.Millisecond).Seconds(), 'f', 3, 64) + " s"
}

// untilWords returns how long a grant is valid, for a sentence.
func untilWords(until time.Duration) string {
	if until == 0 {
		return ""
	}
	return ", valid until " + seconds(until)
}

func (t *timeline) when(pos int32) string { return seconds(t.at(pos)) }

// got returns how a client learned that it holds.
func (t *timeline) got(h *hold) string {
	if t.ops[h.op].outcome == history.OK {
		return "was granted"
	}
	return "confirmed that it held"
}

// since returns the line or time from which a client knew that it holds.
func (t *timeline) since(h *hold) string {
	if t.ops[h.op].outcome == history.OK {
		return "granted at " + t.when(h.begin)
	}
	return "confirmed at " + t.when(h.begin)
}

func (t *timeline) lockName(lock int32) string {
	if name := t.locks.list[lock]; name != "" {
		return strconv.Quote(name)
	}
	return "the lock"
}

func (t *timeline) clientName(client int32) string { return t.names.list[client] }

// procName returns the client of a process.
func (t *timeline) procName(p int32) string { return t.clientName(t.procs[p].client) }

// pair names two processes, with their numbers too if they are of one client.
func (t *timeline) pair(a, b int32) (string, string) {
	x, y := t.procName(a), t.procName(b)
	if x == y && a != b {
		x += " (process " + t.number(a) + ")"
		y += " (process " + t.number(b) + ")"
	}
	return x, y
}

// number returns the number of a process in the history.
func (t *timeline) number(p int32) string {
	for i := range t.ops {
		if t.ops[i].proc == p {
			return t.entry(t.ops[i].invoke).Process.String()
		}
	}
	return "?"
}

// asking returns, for a sentence, how a client waits that is refused repeatedly.
func asking(w *wait) string {
	if w.again {
		return ", asking again and again"
	}
	return ""
}
