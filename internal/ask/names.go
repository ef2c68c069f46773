// Package ask turns the words of a user, from flags or from an entry of a suite, into the
// settings of runs. Wrong words are errors with the exit code of wrong usage, which say
// what may have been meant.
package ask

import (
	"path"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/workloads"
)

// Unknown returns the error for an unknown name, with the names that may have been
// meant.
func Unknown(what, name string, known []string) error {
	return exit.Errorf(exit.Usage, "%w", names.Unknown(what, name, known))
}

// Match returns the names that match the patterns, in the order of known. Patterns may
// be globs; no patterns match all.
func Match(what string, patterns, known []string) ([]string, error) {
	if len(patterns) == 0 {
		return known, nil
	}
	chosen := map[string]bool{}
	for _, p := range patterns {
		some := false
		for _, k := range known {
			ok, err := path.Match(p, k)
			if err != nil {
				return nil, exit.Errorf(exit.Usage, "%q is no pattern: %v", p, err)
			}
			if ok {
				chosen[k], some = true, true
			}
		}
		if !some {
			return nil, Unknown(what, p, known)
		}
	}
	var list []string
	for _, k := range known {
		if chosen[k] {
			list = append(list, k)
		}
	}
	return list, nil
}

// Named returns a function that reports whether a name was typed itself; a name that
// only matches a glob was not.
func Named(args []string) func(name string) bool {
	return func(name string) bool { return slices.Contains(args, name) }
}

// AllPromised is the promise that every property holds that applies.
const AllPromised = "all"

// Promise reads a list of properties, or all.
func Promise(list []string) (checker.Promise, error) {
	var pr checker.Promise
	if slices.Equal(list, []string{AllPromised}) {
		return nil, nil
	}
	for _, name := range list {
		if !slices.Contains(names.Properties(), name) {
			return nil, Unknown("property", name, names.Properties())
		}
		pr = append(pr, checker.Property(name))
	}
	return pr, nil
}

// Mechanisms reads a list of mechanisms, with or without their faults.
func Mechanisms(list []string) (some []checker.Mechanism, err error) {
	for _, name := range list {
		parts := strings.Split(name, ":")
		switch {
		case len(parts) < 2 || len(parts) > 3 || strings.Trim(parts[1], "abcdefghijklmnopqrstuvwxyz-") != "" || parts[1] == "":
			return nil, exit.Errorf(exit.Usage, "--not %s: a mechanism is property:cause:fault or property:cause, as exclusion:entry-expired:pause; run lists those that it sees", name)
		case !slices.Contains(names.Properties(), parts[0]):
			err = Unknown("property", parts[0], names.Properties())
		case len(parts) == 3 && !slices.Contains(append(names.Faults(), checker.NoFault), parts[2]):
			err = Unknown("fault", parts[2], append(names.Faults(), checker.NoFault))
		}
		if err != nil {
			return nil, exit.Errorf(exit.Usage, "--not %s: %w", name, err)
		}
		some = append(some, checker.Mechanism(name))
	}
	return some, nil
}

// Recorded returns the promise that a file names. A later version of lockcheck may name
// properties that this one does not know: the verdict on these stays open.
func Recorded(say sayer, names []string, file string) checker.Promise {
	var pr checker.Promise
	for _, name := range names {
		pr = append(pr, checker.Property(name))
	}
	if why := Unjudged(pr); why != "" {
		say("lockcheck: %s: %s\n", file, why)
	}
	return pr
}

// Unjudged names the promised properties that this version cannot judge, or "".
func Unjudged(pr checker.Promise) string {
	strange := pr.Strange()
	if strange == nil {
		return ""
	}
	return "it promises " + strings.Join(strange.Strings(), ", ") + ", which this lockcheck cannot judge"
}

// Faults reads a list of faults: names, all, none; -name removes one.
func Faults(list []string) ([]faults.Fault, error) {
	kinds, wrong := names.ChooseFaults(list)
	return kinds, misnamed("fault", wrong)
}

// Columns reads a list of faults for the matrix, where all includes those of operators.
func Columns(list []string) ([]faults.Fault, error) {
	kinds, wrong := names.ChooseColumns(list)
	return kinds, misnamed("fault", wrong)
}

// Workloads reads a list of workloads: names, all; -name removes one.
func Workloads(list []string) ([]workloads.Workload, error) {
	does, wrong := names.ChooseWorkloads(list)
	return does, misnamed("workload", wrong)
}

// Options reads a list of options, for example token,spin.
func Options(list string) (catalogue.Options, error) {
	for name := range strings.SplitSeq(list, ",") {
		if known := names.Options(); name != "" && !slices.Contains(known, name) {
			return catalogue.Options{}, exit.Errorf(exit.Usage, "--option: %w", names.Unknown("option", name, known))
		}
	}
	return catalogue.ParseOptions(list)
}

// misnamed returns the first mistake in the list of a flag.
func misnamed(flag string, wrong []names.Wrong) error {
	if len(wrong) == 0 {
		return nil
	}
	return exit.Errorf(exit.Usage, "--%s: %w", flag, wrong[0].Err)
}

// Choice checks that the value of a flag is one of those allowed.
func Choice(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	if near := names.Nearest(value, allowed); len(near) > 0 {
		return exit.Errorf(exit.Usage, "--%s %q: did you mean %s?", flag, value, strings.Join(near, " or "))
	}
	allowed = slices.DeleteFunc(slices.Clone(allowed), func(word string) bool { return word == "" }) // "" means that the flag is not set
	return exit.Errorf(exit.Usage, "--%s %q: it can be %s", flag, value, strings.Join(allowed, ", "))
}

// number is a flag with a value from 1 to most.
type number struct {
	flag        string
	value, most int
}

// Number returns a flag with a value from 1 to most.
func Number(flag string, value, most int) number { return number{flag, value, most} }

// Numbers checks the values of the flags that are given.
func Numbers(given func(flag string) bool, list ...number) error {
	for _, n := range list {
		switch {
		case !given(n.flag):
		case n.value < 1:
			return exit.Errorf(exit.Usage, "--%s %d: it has to be at least 1", n.flag, n.value)
		case n.value > n.most:
			return exit.Errorf(exit.Usage, "--%s %d: it can be %d at most", n.flag, n.value, n.most)
		}
	}
	return nil
}
