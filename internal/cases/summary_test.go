package cases

import (
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/summary"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// The summary names each case that did not behave as documented, and counts the others.
func TestTheSummaryNamesWhatIsNotAsDocumented(t *testing.T) {
	var out strings.Builder
	stage := &Stage{Printer: &summary.Printer{Terminal: terminal.New(&out, nil)}}
	list := []Result{
		{ID: "one", Kind: string(catalogue.Violation), Lock: "redis-setnx", Reproduced: true, Remedy: "valid", LeaseMS: 1},
		{ID: "two", Kind: string(catalogue.Violation), Lock: "zk-recipe", Remedy: "valid", Reason: "nothing broke", LeaseMS: 1},
		{ID: "three", Kind: string(catalogue.Figures), Lock: "zk-recipe", Reproduced: true, Remedy: "violated", LeaseMS: 1},
		{ID: "four", Kind: string(catalogue.Control), Lock: "redlock", Remedy: "none", Reason: "no clock"},
	}
	stage.caseSummary("docker", list)
	for _, want := range []string{"✗ two: nothing broke\n", "✗ three: its remedy did not hold\n", "✗ 3 of the 3 failures", "in 2 of them", "- 1 case cannot be shown on docker", "ZooKeeper                      0                    0         0             2\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	for range 20 {
		list = append(list, list[1])
	}
	out.Reset()
	stage.caseSummary("docker", list)
	if n := strings.Count(out.String(), "\n"); n > 25 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}
