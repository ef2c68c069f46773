package main

import (
	"path"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/workloads"
)

// unknownName says that there is no such thing, and what may have been meant.
func unknownName(what, name string, known []string) error {
	return fail(usage, "%w", names.Unknown(what, name, known))
}

// match returns the names that the patterns, which may be globs, stand for, in
// the order of known. No patterns: all.
func match(what string, patterns, known []string) ([]string, error) {
	if len(patterns) == 0 {
		return known, nil
	}
	chosen := map[string]bool{}
	for _, p := range patterns {
		some := false
		for _, k := range known {
			ok, err := path.Match(p, k)
			if err != nil {
				return nil, fail(usage, "%q is no pattern: %v", p, err)
			}
			if ok {
				chosen[k], some = true, true
			}
		}
		if !some {
			return nil, unknownName(what, p, known)
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

// named tells which names were asked for by name; what a glob stands for was not.
func named(args []string) func(name string) bool {
	return func(name string) bool { return slices.Contains(args, name) }
}

func lockIDs() []string { return names.Locks() }

func caseIDs() (ids []string) {
	for _, c := range catalogue.Cases {
		ids = append(ids, c.ID)
	}
	return ids
}

// parsePromise reads a list of properties.
func parsePromise(list []string) (checker.Promise, error) {
	var pr checker.Promise
	for _, name := range list {
		if !slices.Contains(names.Properties(), name) {
			return nil, unknownName("property", name, names.Properties())
		}
		pr = append(pr, checker.Property(name))
	}
	return pr, nil
}

// parseFaults reads a list of faults: names, all, none; -name takes one out.
func parseFaults(list []string) ([]faults.Fault, error) {
	kinds, wrong := names.ChooseFaults(list)
	return kinds, misnamed("fault", wrong)
}

// parseWorkloads reads a list of workloads: names, all; -name takes one out.
func parseWorkloads(list []string) ([]workloads.Workload, error) {
	does, wrong := names.ChooseWorkloads(list)
	return does, misnamed("workload", wrong)
}

// parseOptions reads a list of options, as token,spin.
func parseOptions(list string) (catalogue.Options, error) {
	for name := range strings.SplitSeq(list, ",") {
		if known := names.Options(); name != "" && !slices.Contains(known, name) {
			return catalogue.Options{}, fail(usage, "--option: %w", names.Unknown("option", name, known))
		}
	}
	return catalogue.ParseOptions(list)
}

// misnamed is the first thing that is wrong with a flag's list.
func misnamed(flag string, wrong []names.Wrong) error {
	if len(wrong) == 0 {
		return nil
	}
	return fail(usage, "--%s: %w", flag, wrong[0].Err)
}

// choice holds a flag's value to the ones that it may have.
func choice(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	if near := names.Nearest(value, allowed); len(near) > 0 {
		return fail(usage, "--%s %q: did you mean %s?", flag, value, strings.Join(near, " or "))
	}
	allowed = slices.DeleteFunc(slices.Clone(allowed), func(word string) bool { return word == "" }) // without the flag
	return fail(usage, "--%s %q: it can be %s", flag, value, strings.Join(allowed, ", "))
}

// Numbers are written everywhere alike.
var plural, thousands, times = names.Count, names.Thousands, names.Times
