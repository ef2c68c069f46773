package env

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// NthEntry returns the entry that an operator chooses: the nth in the order of the
// acquires that made them, which begins again after the last one. makers has the acquire
// of each entry, by its name. ok is false if there is no entry.
func NthEntry[N cmp.Ordered](makers map[string]N, nth int) (name string, ok bool) {
	if len(makers) == 0 {
		return "", false
	}
	list := slices.SortedFunc(maps.Keys(makers), func(a, b string) int {
		return cmp.Or(cmp.Compare(makers[a], makers[b]), strings.Compare(a, b))
	})
	return list[nth%len(list)], true
}
