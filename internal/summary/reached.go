package summary

import (
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
)

// hazards describes the counters of a batch: how often something was reached and, if
// there is a second counter, how often that was reached as well.
var hazards = []struct {
	counter checker.Counter
	words   string
	also    checker.Counter // 0: no second counter
	more    string          // words for it
	part    bool            // the second counter counts some of the first
}{
	{checker.LeaseExpiredWhileHeld, "a lease expired while held", checker.LeaseExpiredWhileHeldAndWaited, "with another client waiting", true},
	{checker.LeaseExpiredWhileReleasing, "a lease expired during its release", 0, "", false},
	{checker.EntryLostWhileHeld, "a server lost the entry of a lock that was held", 0, "", false},
	{checker.ReleasedUnowned, "a command removed another grant's entry", 0, "", false},
	{checker.ReleasedUnheld, "a client released that held nothing", 0, "", false},
	{checker.LateAccess, "the resource was accessed after the hold or its lease", checker.StaleRefused, "; a stale token was refused", false},
	{checker.AmbiguousAcquires, "an acquire ended in doubt", checker.AmbiguousReleases, ", a release", false},
	{checker.ReplyDropped, "a reply was lost on its way", 0, "", false},
	{checker.PauseHitHolder, "a pause hit a holder", checker.PauseHitWaiter, ", a client that was acquiring", false},
	{checker.KillHitHolder, "a holder was killed", checker.KillHitAcquirer, ", a client that was acquiring", false},
	{checker.RestartWithHolder, "a server restarted while somebody held", 0, "", false},
	{checker.ServerPausedWithHolder, "a server stood still while somebody held", 0, "", false},
	{checker.Promotions, "a replica became the master", checker.FailoverWithHolder, "while somebody held", true},
	{checker.JumpWithHolder, "a clock jumped while somebody held", 0, "", false},
	{checker.ClockOffWithHolder, "a clock was wrong while somebody held", 0, "", false},
	{checker.RateWithHolder, "a clock ran fast or slow while somebody held", 0, "", false},
	{checker.HangHitHolder, "a holder hung, but for its background tasks,", 0, "", false},
	{checker.Renewed, "a client reported another end of its lease", 0, "", false},
	{checker.LostNoticed, "a client noticed that its grant was lost", 0, "", false},
}

// reachedIn says in how many runs a hazard was reached.
func reachedIn(h *checker.Hazard, runs int) string {
	return fmt.Sprintf("in %s %s", names.Count(runs, "run"), h.Reached)
}

// ofThem says how many of the n times also reached the second counter.
func ofThem(words string, n, also int) string {
	switch {
	case n == 1 && also == 1:
		return ", " + words
	case also == 1:
		return ", one of them " + words
	}
	return ", " + names.Thousands(also) + " of them " + words
}

// ofEnsemble has the words for locks on ZooKeeper, which has no leases and no masters.
var ofEnsemble = strings.NewReplacer("a lease expired", "a session expired", "a replica became the master", "a follower became the leader")

// reached prints the lines about what a batch reached.
func (to *Printer) reached(lines []string) {
	for i, line := range lines {
		lead := "         "
		if i == 0 {
			lead = "Reached  "
		}
		to.Paragraph(11, lead+line)
	}
}

// reachedLines describes what a batch reached, one sentence a line; kinds are the names of
// the faults that it could draw. If clients died or lost patience, they made fewer
// acquisitions than they were asked to.
func reachedLines(lock string, kinds []string, r *explore.Result) []string {
	granted := r.Reached[checker.Grants]
	grants := "the lock was granted " + names.Times(granted)
	if granted == 0 && r.Empty < r.Runs {
		grants = "the lock was asked for " + names.Times(r.Asked) + "; servers granted it, and no client learned of it"
	} else if granted == 0 && r.Asked > 0 {
		grants = "the lock was asked for " + names.Times(r.Asked) + ", and never granted"
	} else if granted < r.Asked {
		grants += " of " + names.Thousands(r.Asked)
	}
	if n := r.Reached[checker.Contended]; n > 0 {
		grants += ", asked for while another held " + names.Times(n)
	}
	lines := []string{grants}
	for _, h := range hazards {
		n, also := r.Reached[h.counter], 0
		if h.also != 0 {
			also = r.Reached[h.also]
		}
		if n == 0 && also == 0 {
			continue
		}
		line := h.words + " " + names.Times(n)
		if of, _ := catalogue.FindLock(lock); of.Store == catalogue.StoreZooKeeper {
			line = ofEnsemble.Replace(line)
		}
		switch {
		case also > 0 && h.part:
			line += ofThem(h.more, n, also)
		case also > 0:
			line += h.more + " " + names.Times(also)
		}
		lines = append(lines, line)
	}
	if touched := faultWords(r); touched != "" {
		lines = append(lines, touched)
	}
	var undrawn []string
	for _, name := range kinds {
		if disturbs(name) && r.Drawn[name] == 0 {
			undrawn = append(undrawn, name)
		}
	}
	if undrawn != nil {
		lines = append(lines, "never drawn in so few runs: "+strings.Join(undrawn, ", "))
	}
	return lines
}

// faultWords says for each fault in how many of its runs it hit a client or a server.
func faultWords(r *explore.Result) string {
	var parts []string
	for _, f := range faults.All() {
		if n := r.Drawn[f.Name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s in %s of %s", f.Name, names.Thousands(r.Touched[f.Name]), names.Thousands(n)))
		}
	}
	if parts == nil {
		return ""
	}
	return "runs in which the fault hit somebody: " + strings.Join(parts, ", ")
}
