package report

import (
	"testing"

	"github.com/lockcheck/lockcheck/faults"
)

// A story tells each fault in words of its own, not by its name.
func TestEveryFaultHasWords(t *testing.T) {
	for _, f := range faults.All() {
		if _, ok := vocabularies[f.Name]; !ok {
			t.Errorf("%s: add to vocabularies in report/vocabulary.go how it is told", f.Name)
		}
	}
}
