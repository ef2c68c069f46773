package redis_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/locks"
	redislocks "github.com/lockcheck/lockcheck/locks/redis"
)

// WAIT must confirm that a replica has the key.
func TestTooFewReplicas(t *testing.T) {
	const script = "script a id1"
	for _, tt := range []struct {
		name     string
		answers  []any // to SET, to WAIT, and to the script that deletes the key
		granted  bool
		definite bool
	}{
		{"one", []any{nil, reply(1)}, true, false},
		{"two", []any{nil, reply(2)}, true, false},
		{"none", []any{nil, reply(0), nil}, false, true},
		{"none, and the key stays", []any{nil, reply(0), errLost}, false, false},
		{"no answer", []any{nil, errLost, nil}, false, true},
		{"no answer, and the key stays", []any{nil, errLost, errLost}, false, false},
	} {
		d := newDesk(t, tt.answers...)
		_, err := redislocks.NewSetLuaWait(d, d.port(), tenSeconds).Acquire(d.Ends(90*time.Millisecond), "a")
		if (err == nil) != tt.granted || err != nil && (locks.IsDefinite(err) != tt.definite || d.sent[2] != script) {
			t.Errorf("%s: %v, definite %v, sent %q", tt.name, err, locks.IsDefinite(err), d.sent)
		}
	}
	d := newDesk(t, nil, reply(0), nil, nil, reply(1))
	if take(t, redislocks.NewSetLuaWait(d, d.port(), tenSeconds)); len(d.sent) != 5 {
		t.Errorf("it does not try again: %q", d.sent)
	}
}
