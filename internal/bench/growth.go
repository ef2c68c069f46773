package bench

import "math"

// Growth returns the k for which y = c·x^k fits best: the slope of the least-squares
// line through the logarithms. ok is false for fewer than two different x, and for
// values that are not above 0.
func Growth(xs, ys []float64) (k float64, ok bool) {
	var n, sx, sy, sxx, sxy float64
	for i := range xs {
		if xs[i] <= 0 || ys[i] <= 0 {
			return 0, false
		}
		x, y := math.Log(xs[i]), math.Log(ys[i])
		n, sx, sy, sxx, sxy = n+1, sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	spread := n*sxx - sx*sx
	if n < 2 || spread < 1e-9 {
		return 0, false
	}
	return (n*sxy - sx*sy) / spread, true
}
