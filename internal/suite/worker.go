package suite

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/google/shlex"
)

// Command splits a worker's command into words like a shell: text in quotes, or after a
// backslash, is literal. It supports no variables, patterns or pipes. A secret among
// the words is an error, which does not repeat it, because the words are saved in the
// files of a run.
func Command(text string) ([]string, error) {
	words, err := shlex.Split(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%q cannot be split into words: a quote or a backslash has no end", text)
	case len(words) == 0 || words[0] == "":
		return nil, errors.New("a worker needs a command, as python3 worker.py")
	}
	for i, word := range words {
		option := secretOption.FindStringSubmatch(word)
		if option != nil && (option[1]+option[2] != "" || i+1 < len(words)) || secretURL.MatchString(word) {
			return nil, fmt.Errorf("word %d of the command looks like a secret, and the command is kept in schedule.json: let the worker read it from its environment, which is kept nowhere", i+1)
		}
	}
	return words, nil
}

// Patterns for an option or a variable that names a secret, with its value if that is
// in the same word, and for a URL with a password.
var (
	secretOption = regexp.MustCompile(`(?i)^(?:--?(?:\w+[-_])*(?:password|passwd|passphrase|pass|pwd|secret)(=.+)?|\w*(?:password|passwd|passphrase|pwd|secret|auth)(=.+))$`)
	secretURL    = regexp.MustCompile(`^\w[\w+.-]*://[^/@\s]*:[^/@\s]+@`)
)
