package rundir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// The story of a documented run says what the case is about, and what it measured. With
// another lock it says neither.
func TestAStoryOfACaseSaysWhatItShows(t *testing.T) {
	c, _ := catalogue.FindCase("redis-spin-no-backoff")
	flawed, _, remedied := harness.CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
	other := *flawed
	other.Lock, other.Options = "redis-watchdog", catalogue.Options{}
	c, _ = catalogue.FindCase("mysql-client-clock-skew")
	skewed, calm, _ := harness.CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
	const described, unharmed, remedy, measured = "\nCase     ", "\nFault    None: ", "\nRemedy   ", "\nMeasured Requests to the servers for each grant: "
	for name, tt := range map[string]struct {
		plan *harness.Plan
		want []string
	}{
		"as documented":   {flawed, []string{described, measured}},
		"with the remedy": {remedied, []string{described, remedy, measured}},
		"another lock":    {&other, nil},
		"with its fault":  {skewed, []string{described}},
		"without a fault": {calm, []string{described, unharmed}},
	} {
		j, _, err := harness.Simulate(sim.Simulator, tt.plan)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := Save(dir, j); err != nil {
			t.Fatal(err)
		}
		story, err := os.ReadFile(filepath.Join(dir, StoryFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{described, unharmed, remedy, measured} {
			if wanted := slices.Contains(tt.want, part); strings.Contains(string(story), part) != wanted {
				t.Errorf("%s: %q in the story: %v\n%s", name, part, !wanted, story)
			}
		}
	}
}

// A directory is known as a run's, whether or not the lock has a lease.
func TestTheFilesOfARunAreItsOwn(t *testing.T) {
	for _, id := range []string{"redis-get-del-race", "zk-sequence-overflow", "mysql-getlock-half-open"} {
		c, _ := catalogue.FindCase(id)
		plan, _, _ := harness.CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
		j, _, err := harness.Simulate(sim.Simulator, plan)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := Save(dir, j); err != nil {
			t.Fatal(err)
		}
		if foreign := Foreign(dir); foreign != "" {
			t.Errorf("%s: %s seems to be another program's", id, foreign)
		}
	}
}
