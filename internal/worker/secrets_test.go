package worker

import (
	"errors"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// Texts of workers are kept on one line, in bounded length, and without the secrets of
// their environment.
func TestTextsOfWorkersAreKeptWithoutSecrets(t *testing.T) {
	t.Parallel()
	p := &Process{secrets: hiding([]string{"DB_PASSWORD=hunter22", "API_TOKEN=t0ken", "PIN_SECRET=1", "HOME=/root", "PWD=/home/me", "odd"})}
	for text, want := range map[string]string{
		"":                                      "",
		"zk: trying to acquire a lock twice":    "zk: trying to acquire a lock twice",
		"denied for hunter22\n\tat t0ken":       "denied for [hidden] at [hidden]",
		"1 of /root":                            "1 of /root",
		"no file in /home/me":                   "no file in /home/me",
		"dial redis://me:pass@10.0.0.1: failed": "dial redis://me:[hidden]@10.0.0.1: failed",
		strings.Repeat("ä", maxText+1):          strings.Repeat("ä", maxText) + "…",
	} {
		if got := p.publishable(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// An answer's text goes with the meaning of its word.
func TestAnAnswersTextExplainsItsError(t *testing.T) {
	t.Parallel()
	no := false
	for _, tt := range []struct {
		word, text string
		means      error
		definite   bool
		explains   bool
	}{
		{ErrHeld, "", locks.ErrNotAcquired, true, false},
		{ErrHeld, locks.ErrNotAcquired.Error(), locks.ErrNotAcquired, true, false},
		{ErrHeld, "another has it", locks.ErrNotAcquired, true, true},
		{ErrUnavailable, "refused", nil, true, true},
		{"odd", "strange", nil, false, true},
		{"odd", "", nil, false, false},
	} {
		err := Answer{OK: &no, Error: tt.word, Text: tt.text}.Err()
		x, explains := errors.AsType[*env.Explained](err)
		if tt.means != nil && !errors.Is(err, tt.means) || locks.IsDefinite(err) != tt.definite || explains != tt.explains || explains && x.Text != tt.text {
			t.Errorf("%s, %q: %v", tt.word, tt.text, err)
		}
	}
}
