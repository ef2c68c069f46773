package suite

import (
	"slices"
	"testing"
)

func TestACommandIsSplitAsAShellDoes(t *testing.T) {
	for text, want := range map[string][]string{
		"python3 worker.py":                  {"python3", "worker.py"},
		`sh -c "exec python3 worker.py"`:     {"sh", "-c", "exec python3 worker.py"},
		`'my worker' a\ b "" "it's \"one\""`: {"my worker", "a b", "", `it's "one"`},
		"a $HOME *.py | b":                   {"a", "$HOME", "*.py", "|", "b"},
		`sh -c "exec`:                        nil,
		`a \`:                                nil,
		`""`:                                 nil,
		"# nothing":                          nil,
	} {
		if got, err := Command(text); !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%s: %q, %v", text, got, err)
		}
	}
}
