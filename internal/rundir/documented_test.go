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

// saved executes a plan and returns the directory of its files.
func saved(t *testing.T, plan *harness.Plan) string {
	t.Helper()
	dir := t.TempDir()
	j, _, err := harness.Simulate(sim.Simulator, plan)
	if err == nil {
		err = Save(dir, j)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// The story of a documented run says what the case is about, and what it measured. With
// another lock it says neither.
func TestAStoryOfACaseSaysWhatItShows(t *testing.T) {
	c, _ := catalogue.FindCase("redis-spin-no-backoff")
	flawed, _, remedied := harness.CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
	other := *flawed
	other.Lock, other.Options = "redis-watchdog", catalogue.Options{}
	c, _ = catalogue.FindCase("mysql-client-clock-skew")
	skewed, calm, _ := harness.CasePlans(c, c.Schedules[0], "sim", 10*time.Second)
	const described, unharmed, without, with, headline, measured = "\nCase     ", "\nFault    None: ", "\nRemedy   Not in this run: ", "\nRemedy   Wait", "! MEASURED Requests to the servers for each grant: ", "\nMeasured Requests to the servers for each grant: "
	for name, tt := range map[string]struct {
		plan *harness.Plan
		want []string
	}{
		"as documented":   {flawed, []string{described, without, headline, measured}},
		"with the remedy": {remedied, []string{described, with, measured}},
		"another lock":    {&other, nil},
		"with its fault":  {skewed, []string{described, without}},
		"without a fault": {calm, []string{described, unharmed}},
	} {
		story, err := os.ReadFile(filepath.Join(saved(t, tt.plan), StoryFile))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{described, unharmed, without, with, headline, measured} {
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
		if foreign := Foreign(saved(t, plan)); foreign != "" {
			t.Errorf("%s: %s seems to be another program's", id, foreign)
		}
	}
}
