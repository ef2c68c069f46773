package faults

import (
	"cmp"
	"slices"
	"time"
)

// Extremes returns the uses of f that go as far as f goes: one for each direction of a
// link or a clock, each lasting as long as it can. Injection.On stays empty. A search
// in which a fault may end early needs no others.
func (f Fault) Extremes(lease time.Duration) []Injection {
	var list []Injection
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
		same := func(known Injection) bool {
			return known.Direction == in.Direction && cmp.Compare(known.Amount, 0) == cmp.Compare(in.Amount, 0)
		}
		if i := slices.IndexFunc(list, same); i < 0 {
			list = append(list, in)
		} else if cmp.Or(cmp.Compare(in.For, list[i].For), cmp.Compare(in.Amount.Abs(), list[i].Amount.Abs())) > 0 {
			list[i] = in
		}
		more = bits+1 < 1<<asked
	}
	return list
}
