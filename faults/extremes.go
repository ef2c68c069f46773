package faults

import "time"

// Extremes returns the uses of f that go as far as f goes: one for each direction of a
// link or a clock, each lasting as long as it can. Injection.On stays empty. A search
// in which a fault may end early needs no others.
func (f Fault) Extremes(lease time.Duration) []Injection {
	most := map[[2]int]Injection{}
	var order [][2]int
	// Every draw returns its lowest or its highest value, as its bit in bits says.
	for bits, more := 0, true; more; bits++ {
		asked := 0
		in := Injection{Fault: f.Name}
		if f.Draw != nil {
			f.Draw(&in, lease, func(n int64) int64 {
				asked++
				if bits>>(asked-1)&1 == 1 {
					return n - 1
				}
				return 0
			})
		}
		way := [2]int{int(in.Direction), sign(in.Amount)}
		known, ok := most[way]
		if !ok {
			order = append(order, way)
		}
		if !ok || exceeds(in, known) {
			most[way] = in
		}
		more = bits+1 < 1<<asked
	}
	list := make([]Injection, len(order))
	for i, way := range order {
		list[i] = most[way]
	}
	return list
}

func exceeds(a, b Injection) bool {
	if a.For != b.For {
		return a.For > b.For
	}
	return a.Amount.Abs() > b.Amount.Abs()
}

func sign(d time.Duration) int {
	switch {
	case d < 0:
		return -1
	case d > 0:
		return 1
	}
	return 0
}
