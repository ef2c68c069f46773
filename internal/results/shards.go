package results

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/explore"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Part returns the Shards of a single shard, or nil for a complete exploration.
func Part(s explore.Shard) *Shards {
	if s.Of < 1 {
		return nil
	}
	return &Shards{Of: s.Of, Have: []int{s.N}}
}

// Interrupt notes that the runs of the document are incomplete.
func (s *Shards) Interrupt() {
	if s != nil {
		s.Cut = s.Have
	}
}

// part reports whether the document is one complete shard of several. Its verdict is
// left to the merged result.
func (s *Shards) part() bool {
	return s != nil && len(s.Missing)+len(s.Cut) == 0 && len(s.Have) < s.Of
}

// Unjoined reports whether there are other shards that have not been joined yet.
func (s *Shards) Unjoined() bool { return s != nil && len(s.Have)+len(s.Missing) < s.Of }

// Incomplete says which shards are missing or were cut short, or returns "".
func (s *Shards) Incomplete() string {
	if s == nil {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		list []int
		what string
	}{{s.Missing, "missing"}, {s.Cut, "cut short"}} {
		if len(p.list) > 0 {
			parts = append(parts, fmt.Sprintf("%s: %s of %d", p.what, names.Numbered("shard", p.list), s.Of))
		}
	}
	return strings.Join(parts, "; ")
}

// seconds converts to a duration, exact to the nanosecond for months.
func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
