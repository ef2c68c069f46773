package batch

import "github.com/lockcheck/lockcheck/explore"

// The reasons why a cell has fewer runs than planned.
const (
	Interrupted = "interrupted"
	TimeOver    = "time was over"
	ErrorEnded  = "an error ended it"
)

// Cut returns the harmless reason why a batch ended before all its runs, or "". Without
// a number of runs, a batch is complete when time is over, unless other shards have
// runs of it.
func (r *Runner) Cut(s *explore.Settings, done *explore.Result, trouble error) string {
	switch {
	case trouble != nil || done.Whole || !s.Any(0, s.Runs):
		return ""
	case r.Interrupted():
		return Interrupted
	case s.Runs != Unlimited || s.Shard.Of > 0:
		return TimeOver
	}
	return ""
}

// Concerned reports whether this shard needs the environment, because one of its runs
// happens here. With 0 runs only the environment knows their number.
func Concerned(s *explore.Settings) bool { return s.Runs == 0 || s.Any(0, s.Runs) }
