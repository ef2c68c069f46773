package bubble_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/bubble"
	"github.com/lockcheck/lockcheck/internal/explore"
)

// BenchmarkBubble measures a batch: a lock of a client library, 4 clients with 5 acquires
// each, and one or two faults of any kind, judged.
func BenchmarkBubble(b *testing.B) {
	for name, l := range libraries {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			ok := testing.RunTests(func(string, string) (bool, error) { return true, nil }, []testing.InternalTest{{
				Name: name, F: func(t *testing.T) {
					seedable(t)
					s := l.settings(l.kinds())
					s.Runs = b.N
					b.ResetTimer()
					r, err := explore.Random(t.Context(), bubble.Simulator(t, l.make), s, nil)
					if err != nil {
						t.Fatal(err)
					}
					b.StopTimer()
					b.ReportMetric(float64(r.Runs)/r.Took.Seconds(), "runs/s")
				},
			}})
			if !ok {
				b.Fail()
			}
		})
	}
}
