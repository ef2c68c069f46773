// Package report writes text for people: the story of a run, with the lanes of its
// clients, servers and resource on a true time axis, and the table of verdicts.
//
// It sees only a history, as the judge reads it, and verdicts. Every statement can be
// checked against the lines of the history.
package report

// No file needs one above it. From the lowest up: words and units; page, row and axis;
// the records of a history, their reading (reading.go) and what faults are in words; the
// plot of a story and the moments that many stories have; a file for each kind of story;
// the choice among them (story.go); the prose and the lanes.

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// StoryEntries is the largest number of entries of a history with a story: the work
// grows faster than the history, and a person would not read the story.
const StoryEntries = 100_000

// PageEntries is the largest number of entries of a history with a story on its page,
// which is written for a million operations in a few seconds.
const PageEntries = 2_500_000

// TooLong returns the reason why a history with n entries has no story.
func TooLong(n int) string { return tooLong(n, StoryEntries) }

func tooLong(n, most int) string {
	return fmt.Sprintf("The history has %s entries: a story is told of up to %s.", thousands(n), thousands(most))
}

// Story writes an explanation of the run: a line with the verdict; a few sentences,
// made from the history's facts; the lanes; the important moments, numbered as in the
// lanes. If several properties are violated it tells one story, of the most
// informative violation, and names the others. Without a violation it tells what
// happened around the fault. The error is w's.
func Story(w io.Writer, h *history.History, verdicts []checker.Verdict, o Options) error {
	p := &page{o: o}
	subject, plot := tell(h, verdicts, o, StoryEntries)
	p.begin(h, verdicts, subject, plot)
	if untold(plot) == "" {
		p.blank()
		p.lanes(plot)
		p.blank()
		p.moments(plot)
	}
	p.failures(h)
	p.others(verdicts, subject)
	return p.flush(w)
}

// tell returns the violation that a story is about, or nil, and the story, if the history
// has at most so many entries.
func tell(h *history.History, verdicts []checker.Verdict, o Options, most int) (*checker.Verdict, *plot) {
	subject := choose(h, verdicts, o)
	if n := len(h.Entries); n > most {
		return subject, &plot{tooLong: tooLong(n, most)}
	}
	return subject, newPlot(h, verdicts, subject)
}

// untold returns the reason why there is nothing to tell, or "".
func untold(s *plot) string {
	switch {
	case s.tooLong != "":
		return s.tooLong
	case s.empty():
		return "Nothing happened in this run: nobody asked for a lock."
	}
	return ""
}

// begin writes the verdict, the run, and the story in sentences.
func (p *page) begin(h *history.History, verdicts []checker.Verdict, subject *checker.Verdict, s *plot) {
	p.headline(h, verdicts, subject, s.title)
	p.run(h)
	p.blank()
	if why := untold(s); why != "" {
		p.text(2, plain, why)
		return
	}
	p.text(2, plain, s.prose())
}

// doubt is the reason why some properties are unknown.
type doubt struct {
	of  []string
	why string
}

// headline writes the outcome of the run.
func (p *page) headline(h *history.History, verdicts []checker.Verdict, subject *checker.Verdict, title string) {
	promised := promise(h, p.o)
	var held []string
	var unknown []doubt
	for i := range verdicts {
		v := &verdicts[i]
		switch {
		case !promised.Covers(v.Property):
		case v.Outcome == checker.Valid:
			held = append(held, string(v.Property))
		case v.Outcome == checker.Unknown:
			if n := len(unknown) - 1; n >= 0 && unknown[n].why == v.Reason {
				unknown[n].of = append(unknown[n].of, string(v.Property))
			} else {
				unknown = append(unknown, doubt{[]string{string(v.Property)}, v.Reason})
			}
		}
	}
	switch {
	case subject != nil:
		p.hanging(0, bad, "✗ VIOLATED "+string(subject.Property)+": "+cmp.Or(title, sentence(subject)))
	case len(unknown) > 0:
		var words []string
		for _, u := range unknown {
			words = append(words, list(u.of)+": "+u.why)
		}
		p.hanging(0, warn, "? UNKNOWN "+strings.Join(words, "; "))
	case len(held) > 0 && p.o.Measured != "":
		p.hanging(0, warn, "! MEASURED "+p.o.Measured+"; held: "+list(held))
	case len(held) > 0:
		p.hanging(0, good, "✓ HELD "+list(held))
	default:
		p.hanging(0, warn, "? NOT JUDGED: no property applies")
	}
}

// run identifies the run.
func (p *page) run(run *history.History) {
	h := &run.Header
	var about []string
	add := func(s string) { about = append(about, s) }
	if h.Case != "" {
		add("case " + h.Case)
	}
	if h.Lock != "" {
		lock := "lock " + h.Lock
		if h.Options != "" {
			lock += " (" + h.Options + ")"
		}
		add(lock)
	}
	if h.LeaseMS > 0 {
		lease := "lease "
		if strings.HasPrefix(h.Lock, "zk-") {
			lease = "session time-out "
		} else if h.Version != "" && !leased(run) {
			lease = "T "
		}
		if lease != "T " && (p.raw || strings.HasSuffix(p.o.Measured, " T")) {
			lease += "T = " // other texts use T
		}
		add(lease + newUnits(h.Lease()).span(h.Lease()))
	}
	switch h.Fencing {
	case history.FencingAll:
		add("fencing on")
	case history.FencingWrites:
		add("fencing of writes")
	}
	servers := h.Servers
	if more, ok := strings.CutPrefix(cmp.Or(servers, "servers"), "servers"); ok && h.Nodes > 1 {
		servers = fmt.Sprintf("%d servers%s", h.Nodes, more)
	}
	if servers != "" {
		add(servers)
	}
	if h.On != "" {
		add("on " + h.On)
	}
	if h.Seed != 0 || h.On != "" && !h.RealTime() {
		add("seed " + number(h.Seed))
	}
	if len(about) > 0 {
		p.text(2, dim, strings.Join(about, ", "))
	}
}

// leased reports whether a grant has a lease, or there is no grant.
func leased(h *history.History) bool {
	granted := false
	for i := range h.Entries {
		if e := &h.Entries[i]; e.ValidUntil != 0 {
			return true
		} else if e.Type == history.OK && (e.F == history.Acquire || e.F == history.Try) {
			granted = true
		}
	}
	return !granted
}

// others names the violations that the story is not about.
func (p *page) others(verdicts []checker.Verdict, subject *checker.Verdict) {
	title := "Also violated:"
	if subject == nil {
		title = "Violated, and not promised:"
	}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Outcome != checker.Violated || v == subject {
			continue
		}
		if title != "" {
			p.blank()
			p.text(2, plain, title)
			title = ""
		}
		p.hanging(2, plain, "✗ "+string(v.Property)+": "+sentence(v))
	}
}

// promise returns the properties that the reader expects to hold.
func promise(h *history.History, o Options) checker.Promise {
	pr := checker.Promise(o.Promise)
	if pr == nil {
		for _, n := range h.Header.Promises {
			pr = append(pr, checker.Property(n))
		}
	}
	return pr
}

// choose returns the violation that a story is about, or nil if the reader's promise
// covers no violation.
func choose(h *history.History, verdicts []checker.Verdict, o Options) *checker.Verdict {
	promised := promise(h, o)
	var best *checker.Verdict
	for i := range verdicts {
		v := &verdicts[i]
		switch {
		case v.Outcome != checker.Violated:
		case v.Property == o.About:
			return v
		case promised.Covers(v.Property) && (best == nil || telling(v.Property) < telling(best.Property)):
			best = v
		}
	}
	return best
}

// telling orders properties by how much a story of their violation explains.
func telling(p checker.Property) int {
	order := [...]checker.Property{
		checker.Exclusion, checker.LeaseExclusion, checker.Ownership, checker.Resource,
		checker.Fencing, checker.Answers, checker.Fairness, checker.Liveness, checker.Handover,
	}
	if i := slices.Index(order[:], p); i >= 0 {
		return i
	}
	return len(order)
}
