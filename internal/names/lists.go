package names

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/workloads"
)

// All and None in a list mean everything and nothing.
const (
	All  = "all"
	None = catalogue.NoFault
)

// Wrong is a mistake in a list.
type Wrong struct {
	Item int // index of the item from 0; -1: the whole list
	Err  error
}

// Locks returns the ids of all locks.
func Locks() []string { return of(catalogue.Locks, func(l catalogue.Lock) string { return l.ID }) }

// Cases returns the ids of all cases.
func Cases() []string { return of(catalogue.Cases, func(c catalogue.Case) string { return c.ID }) }

// Faults returns the names of all faults.
func Faults() []string { return of(faults.All(), func(f faults.Fault) string { return f.Name }) }

// Properties returns the names of all properties.
func Properties() []string {
	return of(checker.Properties[:], func(p checker.Property) string { return string(p) })
}

// Options returns the names of all options of locks.
func Options() []string {
	return of(catalogue.AllOptions, func(o catalogue.Option) string { return o.Name })
}

// ChooseFaults parses a list of faults: names, all, none; -name removes one. All are
// faults.Usual. None alone gives no faults; with others it adds the zero Fault.
func ChooseFaults(list []string) ([]faults.Fault, []Wrong) {
	return chooseFaults(list, func(f faults.Fault) bool { return f.Operator == "" })
}

// ChooseColumns is ChooseFaults for the matrix: all are faults.All.
func ChooseColumns(list []string) ([]faults.Fault, []Wrong) { return chooseFaults(list, every) }

func chooseFaults(list []string, meant func(faults.Fault) bool) ([]faults.Fault, []Wrong) {
	if len(list) == 1 && list[0] == None {
		return nil, nil
	}
	kinds, wrong := choose("fault", list, faults.All(), meant, Faults(), None)
	if slices.Contains(list, None) {
		kinds = append(kinds, faults.Fault{})
	}
	if len(kinds)+len(wrong) == 0 {
		wrong = []Wrong{{-1, fmt.Errorf("%q leaves no kind of fault; none means no fault", strings.Join(list, ","))}}
	}
	return kinds, wrong
}

// ChooseWorkloads parses a list of workloads: names, all; -name removes one.
func ChooseWorkloads(list []string) ([]workloads.Workload, []Wrong) {
	does, wrong := choose("workload", list, workloads.All(), every, workloads.Names())
	if len(does)+len(wrong) == 0 {
		wrong = []Wrong{{-1, fmt.Errorf("%q leaves nothing that clients could do", strings.Join(list, ","))}}
	}
	return does, wrong
}

// choose returns the items of all that a list chooses, in the order of all. The list
// has names, "all" for the items that meant reports, and -name, which removes an item. A
// list that begins with -name begins with "all". more are words with another meaning.
func choose[T any](what string, list []string, all []T, meant func(T) bool, known []string, more ...string) (some []T, wrong []Wrong) {
	chosen := make([]bool, len(all))
	set := func(to bool) {
		for i := range chosen {
			chosen[i] = to && meant(all[i])
		}
	}
	if len(list) > 0 && strings.HasPrefix(list[0], "-") {
		set(true)
	}
	for n, item := range list {
		name, out := strings.CutPrefix(item, "-")
		switch i := slices.Index(known, name); {
		case !out && slices.Contains(more, name): // a word with another meaning
		case name == All:
			set(!out)
		case i < 0:
			wrong = append(wrong, Wrong{n, Unknown(what, name, slices.Concat(known, []string{All}, more))})
		case out && !chosen[i]:
			wrong = append(wrong, Wrong{n, fmt.Errorf("%s takes out what is not in the list", item)})
		default:
			chosen[i] = !out
		}
	}
	for i, it := range all {
		if chosen[i] {
			some = append(some, it)
		}
	}
	return some, wrong
}

func every[T any](T) bool { return true }

func of[T any](list []T, name func(T) string) (names []string) {
	for _, it := range list {
		names = append(names, name(it))
	}
	return names
}
