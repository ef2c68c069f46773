package explore

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/sim"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// simulate executes a plan.
func simulate(t testing.TB, p *harness.Plan) *harness.Judged {
	t.Helper()
	j, _, err := harness.Simulate(sim.Simulator, p)
	must(t, err)
	return j
}
