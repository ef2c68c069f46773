package rapidtest

import (
	"flag"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// inputs returns n drawn numbers.
func inputs(t *testing.T, n int) (list []uint64) {
	CheckN(t, n, func(t *rapid.T) { list = append(list, rapid.Uint64().Draw(t, "n")) })
	return list
}

func TestInputsAreTheSameInEachRun(t *testing.T) {
	seed := flag.Lookup("rapid.seed").Value.String()
	defer set(t, "rapid.seed", seed)
	set(t, "rapid.seed", "0")
	first, second := inputs(t, 300), inputs(t, 300)
	if len(first) != 300 || !slices.Equal(first, second) {
		t.Errorf("two runs draw %d and %d inputs, and they are not the same", len(first), len(second))
	}
	if distinct := slices.Compact(slices.Sorted(slices.Values(first))); len(distinct) < 200 {
		t.Errorf("only %d of %d inputs are different", len(distinct), len(first))
	}
	set(t, "rapid.seed", "2")
	if slices.Equal(first, inputs(t, 300)) {
		t.Error("another seed draws the same inputs")
	}
}

func TestTheNumberOfInputsIsForOneCheck(t *testing.T) {
	for range 4 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			for _, want := range []int{7, 1, 30} {
				if n := len(inputs(t, want)); n != want {
					t.Errorf("%d inputs, want %d", n, want)
				}
			}
			checks, n := flag.Lookup("rapid.checks").DefValue, 0
			if Check(t, func(*rapid.T) { n++ }); checks == "100" && !testing.Short() && n != 100 {
				t.Errorf("%d inputs, want 100", n)
			}
		})
	}
}

// A check may be part of the property of another one.
func TestChecksNest(t *testing.T) {
	n := 0
	CheckN(t, 2, func(*rapid.T) {
		CheckN(t, 3, func(*rapid.T) { n++ })
	})
	if n != 6 {
		t.Errorf("%d inner inputs, want 6", n)
	}
}
