package results

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/names"
)

// Part says that a document is what one shard came to; nil: it is the whole.
func Part(s explore.Shard) *Shards {
	if s.Of < 1 {
		return nil
	}
	return &Shards{Of: s.Of, Have: []int{s.N}}
}

// Interrupt says that not all was done of what is in the document.
func (s *Shards) Interrupt() {
	if s != nil {
		s.Cut = s.Have
	}
}

// part tells whether a shard has been done, and is not all there is: what it
// shows is for those who join the shards to say.
func (s *Shards) part() bool {
	return s != nil && len(s.Missing)+len(s.Cut) == 0 && len(s.Have) < s.Of
}

// Incomplete says what is not there, or "".
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

// seconds is exact to the nanosecond for months.
func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
