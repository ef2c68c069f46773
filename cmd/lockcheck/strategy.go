package main

import (
	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/harness"
)

// strategies are the possible values of --strategy, the default first.
var strategies = []string{"random", harness.PCT, exhaustive}

// strategic sets the strategy of the runs.
func (f *runFlags) strategic(given func(flag string) bool, s *explore.Settings) error {
	if f.strategy == exhaustive {
		return f.exhaustively(given, s)
	}
	if f.strategy != strategies[0] {
		s.Strategy = f.strategy
	}
	s.Depth = f.depth
	switch {
	case s.Strategy == harness.Random && given("depth"):
		return exit.Errorf(exit.Usage, "--depth is of --strategy %s only", harness.PCT)
	case given("depth") && (f.depth < 1 || f.depth > harness.MaxDepth):
		return exit.Errorf(exit.Usage, "--depth %d: it goes from 1 to %d", f.depth, harness.MaxDepth)
	case s.Strategy == harness.PCT && f.environment.on == "docker":
		return exit.Errorf(exit.Usage, "--strategy %s decides how long each message takes, and on docker nobody does: leave out --on docker", harness.PCT)
	}
	return nil
}
