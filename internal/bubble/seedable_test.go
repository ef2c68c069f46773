package bubble_test

import (
	"math/rand"
	"testing"

	"github.com/lockcheck/lockcheck/internal/bubble"
)

// The numbers of math/rand are the same in each test with runs, and others after it.
func TestSeedableEndsWithItsTest(t *testing.T) {
	var within, after []int64
	for range 2 {
		t.Run("test", func(t *testing.T) {
			bubble.Seedable(t)
			within = append(within, rand.Int63())
		})
		after = append(after, rand.Int63())
	}
	if within[0] != within[1] || after[0] == after[1] || after[0] == within[0] {
		t.Errorf("%d in the tests, %d after them", within, after)
	}
}
