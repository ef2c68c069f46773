package suite

import (
	"errors"
	"fmt"

	"github.com/google/shlex"
)

// Command splits a worker's command into words as a shell does: what stands in
// quotes, or after a backslash, is taken as it is. Nothing else of a shell is
// done: no variables, no patterns, no pipes.
func Command(text string) ([]string, error) {
	words, err := shlex.Split(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q cannot be split into words: a quote or a backslash has no end", text)
	case len(words) == 0 || words[0] == "":
		return nil, errors.New("a worker needs a command, as python3 worker.py")
	}
	return words, nil
}
