package bench_test

import (
	"math"
	"testing"

	"github.com/lockcheck/lockcheck/internal/bench"
)

func TestGrowth(t *testing.T) {
	none := math.NaN()
	for name, c := range map[string]struct {
		xs, ys []float64
		want   float64
	}{
		"square":        {[]float64{2, 4, 8}, []float64{12, 48, 192}, 2},
		"root":          {[]float64{1, 4, 9}, []float64{5, 10, 15}, 0.5},
		"constant":      {[]float64{2, 4, 8}, []float64{7, 7, 7}, 0},
		"falling":       {[]float64{1, 10}, []float64{10, 1}, -1},
		"best of three": {[]float64{1, math.E, math.E * math.E}, []float64{1, 1, math.Exp(3)}, 1.5},
		"with a zero":   {[]float64{2, 4}, []float64{0, 1}, none},
		"one point":     {[]float64{2}, []float64{1}, none},
		"one place":     {[]float64{3, 3}, []float64{1, 2}, none},
		"nothing":       {nil, nil, none},
	} {
		k, ok := bench.Growth(c.xs, c.ys)
		if ok == math.IsNaN(c.want) || ok && math.Abs(k-c.want) > 1e-9 {
			t.Errorf("%s: %v, %v, want %v", name, k, ok, c.want)
		}
	}
}
