package explore

import (
	"fmt"
	"testing"
)

// The shard of a run is the same on every machine and in every version. Otherwise
// shards of two versions would look like a mistake.
func TestTheShardOfARunNeverChanges(t *testing.T) {
	for _, tt := range []struct {
		cell string
		seed uint64
		of   int
		want int
	}{
		{"", 0, 4, 2},
		{"", 0, 7, 5},
		{"", 1, 4, 3},
		{"", 1, 7, 4},
		{"", 42, 4, 3},
		{"", 42, 7, 4},
		{"", 9223372036854775808, 4, 4},
		{"", 9223372036854775808, 7, 1},
		{"redis-set-lua", 0, 4, 1},
		{"redis-set-lua", 0, 7, 2},
		{"redis-set-lua", 1, 4, 3},
		{"redis-set-lua", 1, 7, 4},
		{"redis-set-lua", 42, 4, 2},
		{"redis-set-lua", 42, 7, 2},
		{"redis-set-lua", 9223372036854775808, 4, 2},
		{"redis-set-lua", 9223372036854775808, 7, 4},
		{"redis-set-lua pause", 0, 4, 2},
		{"redis-set-lua pause", 0, 7, 7},
		{"redis-set-lua pause", 1, 4, 2},
		{"redis-set-lua pause", 1, 7, 2},
		{"redis-set-lua pause", 42, 4, 1},
		{"redis-set-lua pause", 42, 7, 4},
		{"redis-set-lua pause", 9223372036854775808, 4, 1},
		{"redis-set-lua pause", 9223372036854775808, 7, 6},
		{"worker on docker: kill", 0, 4, 4},
		{"worker on docker: kill", 0, 7, 4},
		{"worker on docker: kill", 1, 4, 4},
		{"worker on docker: kill", 1, 7, 7},
		{"worker on docker: kill", 42, 4, 2},
		{"worker on docker: kill", 42, 7, 6},
		{"worker on docker: kill", 9223372036854775808, 4, 4},
		{"worker on docker: kill", 9223372036854775808, 7, 3},
	} {
		for n := 1; n <= tt.of; n++ {
			if has := (Shard{n, tt.of}).Has(tt.cell, tt.seed); has != (n == tt.want) {
				t.Errorf("%q, seed %d: shard %d/%d: %v", tt.cell, tt.seed, n, tt.of, has)
			}
		}
	}
}

// Each run belongs to one shard, and over many seeds all have about as many.
func TestShardsHaveAboutEqualParts(t *testing.T) {
	const runs = 10000
	for _, of := range []int{1, 2, 3, 4, 7, 16} {
		for _, cell := range []string{"redis-set-lua", "redis-set-lua pause", "a lock on docker: kill"} {
			for _, base := range []uint64{0, 1, 1 << 40} {
				count := make([]int, of)
				for i := range uint64(runs) {
					had := 0
					for n := range of {
						if (Shard{n + 1, of}).Has(cell, base+i) {
							count[n]++
							had++
						}
					}
					if had != 1 {
						t.Fatalf("%s, seed %d: %d of %d shards have it", cell, base+i, had, of)
					}
				}
				for n, had := range count {
					// Six standard deviations of a fair draw.
					if d := float64(had) - runs/float64(of); d*d > 36*runs/float64(of) {
						t.Errorf("%s from seed %d: shard %d/%d has %d of %d runs", cell, base, n+1, of, had, runs)
					}
				}
			}
		}
	}
}

// The cells of a matrix, which all begin with one seed, are spread, too.
func TestCellsOfOneSeedAreSpread(t *testing.T) {
	count := make([]int, 4)
	for i := range 600 {
		for n := range count {
			if (Shard{n + 1, 4}).Has(fmt.Sprintf("lock-%d fault-%d", i/20, i%20), 1) {
				count[n]++
			}
		}
	}
	for n, had := range count {
		if had < 100 || had > 200 {
			t.Errorf("shard %d/4 has %d of 600 cells", n+1, had)
		}
	}
}

// A few runs are spread, too: of ten runs, all fall to one of two shards in one cell of
// 512.
func TestFewRunsAreSpread(t *testing.T) {
	const cells, runs = 600, 10
	alone := 0
	for i := range cells {
		count := 0
		for seed := range uint64(runs) {
			if (Shard{1, 2}).Has(fmt.Sprintf("lock-%d fault-%d", i/20, i%20), 1+seed) {
				count++
			}
		}
		if count == 0 || count == runs {
			alone++
		}
	}
	if alone > cells/50 {
		t.Errorf("in %d of %d cells all runs fall to one of two shards", alone, cells)
	}
}
