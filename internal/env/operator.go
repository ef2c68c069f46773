package env

import (
	"cmp"
	"slices"
	"strings"
)

// NthEntry returns the entry that an operator chooses: the nth in the order of the
// acquires that made them, which begins again after the last one. makers has the acquire
// of each entry, by its name; a number below 0 stands for an operator, whose entries are
// left out. ok is false if there is no entry.
func NthEntry[N int | int64](makers map[string]N, nth int) (name string, ok bool) {
	var list []string
	for name, op := range makers {
		if op >= 0 {
			list = append(list, name)
		}
	}
	if len(list) == 0 {
		return "", false
	}
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(makers[a], makers[b]), strings.Compare(a, b))
	})
	return list[nth%len(list)], true
}

// OperatorsValue is the value that an operator writes into an entry, and the owner that it
// names. No client has it.
const OperatorsValue = "operator"
