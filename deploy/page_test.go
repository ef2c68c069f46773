package deploy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

var (
	commands = regexp.MustCompile(`(?m)(?:^    \S.*\n)+`)
	again    = regexp.MustCompile(`lockcheck replay(?: \\\n\s*| )(\S+?\.json)`)
)

// The commands of the page, after a run of the action with a violation, work as
// written: they make the replay lines of that run work, and make the next suite replay
// the counterexample.
func TestThePageLeadsToWhatWasFound(t *testing.T) {
	t.Parallel()
	var look, kept, merged string
	for _, block := range commands.FindAllString(readText(t, page), -1) {
		switch {
		case strings.Contains(block, "regressions-lockcheck"):
			kept = block
		case strings.Contains(block, "cp -r"):
			merged = block
		case strings.Contains(block, "gh run download"):
			look = block
		}
	}
	path := lockcheck(t, runtime.GOOS) + string(os.PathListSeparator)
	for name, take := range map[string]string{"what the suite kept": look + kept, "from the results": merged} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t, breaksItsPromise, "")
			// The second time the files exist already. gh does not overwrite files, and
			// neither does this runner.
			commit := func() {
				must(t, os.CopyFS(filepath.Join(r.dir, "regressions", "old"), fstest.MapFS{"notes.txt": {Data: []byte("it was mended")}}))
			}
			commit()
			if r.action(t, nil, path+r.path) {
				t.Fatalf("nothing was found:\n%s", r.said.String())
			}
			r.checkout(t, breaksItsPromise)
			commit()
			r.path = path + r.path
			for line := range strings.Lines("git init -q\n" + take) {
				if out, code := r.does(t, strings.TrimSpace(line)); code != 0 {
					t.Fatalf("%s: exit code %d\n%s", line, code, out)
				}
			}
			lines := again.FindAllStringSubmatch(r.said.String(), -1)
			for _, m := range lines {
				if out, code := r.does(t, "lockcheck replay "+m[1]); code != results.Violated.ExitCode() {
					t.Errorf("lockcheck replay %s: exit code %d\n%s", m[1], code, out)
				}
			}
			if found, _ := filepath.Glob(filepath.Join(r.dir, "regressions", "*", rundir.ScheduleFile)); len(found) != 1 || len(lines) == 0 {
				t.Errorf("%d replay lines, and %q are taken", len(lines), found)
			}
			if out, _ := r.does(t, "lockcheck suite"); !strings.Contains(out, "Past     1 counterexample") {
				t.Errorf("the suite replays nothing:\n%s", out)
			}
		})
	}
}
