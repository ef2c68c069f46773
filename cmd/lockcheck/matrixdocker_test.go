package main

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/lockcheck/lockcheck/internal/results"
)

// A cell that must hold and one that must break, with a real server. Real time decides
// whether the second one shows its violation; nothing else may differ. With a lease of a
// second, a server that starves for a moment makes handover late.
func TestTwoCellsOnDocker(t *testing.T) {
	t.Parallel()
	lockcheck, out := binary(t), t.TempDir()
	r := command(t, lockcheck, "matrix", "redis-set-lua", "--fault", "none,kill", "--on", "docker", "--lease", "3s", "--for", "15s", "--json", "--out", out)
	r.wants(t, held)
	var doc results.MatrixDocument
	if err := json.Unmarshal([]byte(r.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if len(doc.Cells) != 2 || doc.On != "docker" || doc.LeaseMS != 3000 {
		t.Fatalf("%+v", doc)
	}
	for i, outcomes := range [][]string{{"as-expected"}, {"as-expected", "not-shown"}} {
		c := doc.Cells[i]
		if c.Outcome != outcomes[0] && c.Outcome != outcomes[len(outcomes)-1] || c.Runs == 0 || c.Grants == 0 {
			t.Errorf("%+v", c)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(out, "*", historyFile)); len(files) != doc.Runs {
		t.Errorf("%d runs, and the histories %q", doc.Runs, files)
	}
	nothingLeft(t, lockcheck)
}
