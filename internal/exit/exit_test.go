package exit

import (
	"testing"

	"github.com/lockcheck/lockcheck/checker"
)

func TestWorse(t *testing.T) {
	order := []int{Held, Unproven, Violated, Unavailable, Usage, Bug}
	for i, a := range order {
		for j, b := range order {
			if got, want := Worse(a, b), order[max(i, j)]; got != want {
				t.Errorf("worse(%d, %d) is %d, want %d", a, b, got, want)
			}
		}
	}
}

func TestPromiseDecidesTheCode(t *testing.T) {
	const (
		ex, own, fen = checker.Exclusion, checker.Ownership, checker.Fencing
		later        = checker.Property("of-a-later-version")
	)
	type outcomes = map[checker.Property]checker.Outcome // a missing one is n/a
	tests := []struct {
		name string
		pr   checker.Promise
		out  outcomes
		want int
	}{
		{"all that apply hold", nil, outcomes{ex: checker.Valid, own: checker.Valid}, Held},
		{"n/a changes nothing", nil, outcomes{ex: checker.Valid}, Held},
		{"nothing applies", nil, outcomes{}, Unproven},
		{"unknown is never valid", nil, outcomes{ex: checker.Valid, own: checker.Unknown}, Unproven},
		{"violated comes before unknown", nil, outcomes{ex: checker.Unknown, own: checker.Violated}, Violated},
		{"the promise holds", checker.Promise{ex}, outcomes{ex: checker.Valid}, Held},
		{"what is not promised does not matter", checker.Promise{own}, outcomes{ex: checker.Violated, own: checker.Valid, fen: checker.Unknown}, Held},
		{"a named n/a is inconclusive", checker.Promise{ex, fen}, outcomes{ex: checker.Valid}, Unproven},
		{"a named n/a alone", checker.Promise{fen}, outcomes{ex: checker.Valid}, Unproven},
		{"a named violation beside an n/a", checker.Promise{fen, ex}, outcomes{ex: checker.Violated}, Violated},
		{"a named unknown", checker.Promise{own}, outcomes{ex: checker.Valid, own: checker.Unknown}, Unproven},
		{"an unknown property", checker.Promise{later}, outcomes{ex: checker.Valid}, Unproven},
		{"an unknown property among others", checker.Promise{ex, later}, outcomes{ex: checker.Valid}, Unproven},
		{"an unknown property beside a violation", checker.Promise{later, ex}, outcomes{ex: checker.Violated}, Violated},
	}
	for _, tt := range tests {
		got := Of(tt.pr.Judge(func(p checker.Property) checker.Outcome {
			if out, ok := tt.out[p]; ok {
				return out
			}
			return checker.NA
		}))
		if got != tt.want {
			t.Errorf("%s: exit code %d, want %d", tt.name, got, tt.want)
		}
	}
}
