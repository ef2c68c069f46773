package main

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/workloads"
)

// unknownName says that there is no such thing, and what may have been meant.
func unknownName(what, name string, known []string) error {
	near := nearest(name, known)
	if len(near) == 0 {
		return fail(usage, "no %s %q; there are %s", what, name, strings.Join(known, ", "))
	}
	return fail(usage, "no %s %q; did you mean %s?", what, name, strings.Join(near, " or "))
}

// nearest are up to three names that name may be a slip of; the case of letters
// is no difference.
func nearest(name string, known []string) []string {
	type scored struct {
		name     string
		distance int
	}
	var near []scored
	name = strings.ToLower(name)
	for _, k := range known {
		lower := strings.ToLower(k)
		d := distance(name, lower)
		switch {
		case d == 0:
			return []string{k}
		case len(name) > 2 && strings.Contains(lower, name):
			d = 1
		}
		if d <= max(2, len(name)/3) {
			near = append(near, scored{k, d})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, n := range near[:min(3, len(near))] {
		names = append(names, n.name)
	}
	return names
}

// distance is Levenshtein's: how many letters to insert, delete or replace.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			above := row[j+1]
			if a[i] == b[j] {
				row[j+1] = corner
			} else {
				row[j+1] = 1 + min(corner, above, row[j])
			}
			corner = above
		}
	}
	return row[len(b)]
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

func lockIDs() (ids []string) {
	for _, l := range catalogue.Locks {
		ids = append(ids, l.ID)
	}
	return ids
}

func caseIDs() (ids []string) {
	for _, c := range catalogue.Cases {
		ids = append(ids, c.ID)
	}
	return ids
}

func faultNames() (names []string) {
	for _, f := range faults.All() {
		names = append(names, f.Name)
	}
	return names
}

func propertyNames() (names []string) {
	for _, p := range checker.Properties {
		names = append(names, string(p))
	}
	return names
}

// parsePromise reads a list of properties.
func parsePromise(list []string) (promise, error) {
	var pr promise
	for _, name := range list {
		if !slices.Contains(propertyNames(), name) {
			return nil, unknownName("property", name, propertyNames())
		}
		pr = append(pr, checker.Property(name))
	}
	return pr, nil
}

// parseFaults reads a list of faults: names, all, none; -name takes one out.
func parseFaults(list []string) ([]faults.Fault, error) {
	if len(list) == 1 && list[0] == "none" {
		return nil, nil
	}
	if slices.Contains(list, "none") || slices.Contains(list, "-none") {
		return nil, fail(usage, "none stands alone in a list of faults")
	}
	kinds, err := chosen("fault", list, faults.All(), func(f faults.Fault) string { return f.Name }, "none")
	if err == nil && len(kinds) == 0 {
		err = fail(usage, "--fault %q leaves no kind of fault; none stands for no fault", strings.Join(list, ","))
	}
	return kinds, err
}

// parseWorkloads reads a list of workloads: names, all; -name takes one out.
func parseWorkloads(list []string) ([]workloads.Workload, error) {
	does, err := chosen("workload", list, workloads.All(), func(w workloads.Workload) string { return w.Name })
	if err == nil && len(does) == 0 {
		err = fail(usage, "--workload %q leaves nothing that clients could do", strings.Join(list, ","))
	}
	return does, err
}

// chosen is what a list chooses of all, in the order of all: names, "all", and
// -name, which takes one out. more are words that stand for something else.
func chosen[T any](what string, list []string, all []T, name func(T) string, more ...string) (some []T, err error) {
	var names []string
	for _, it := range all {
		names = append(names, name(it))
	}
	chosen := map[string]bool{}
	if len(list) > 0 && strings.HasPrefix(list[0], "-") {
		list = append([]string{"all"}, list...)
	}
	for _, item := range list {
		name, out := strings.CutPrefix(item, "-")
		switch {
		case name == "all":
			for _, n := range names {
				chosen[n] = !out
			}
		case !slices.Contains(names, name):
			return nil, unknownName(what, name, slices.Concat(names, []string{"all"}, more))
		case out && !chosen[name]:
			return nil, fail(usage, "--%s %s: %s takes out what is not in the list", what, strings.Join(list, ","), item)
		default:
			chosen[name] = !out
		}
	}
	for _, it := range all {
		if chosen[name(it)] {
			some = append(some, it)
		}
	}
	return some, nil
}

// choice holds a flag's value to the ones that it may have.
func choice(flag, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	if near := nearest(value, allowed); len(near) > 0 {
		return fail(usage, "--%s %q: did you mean %s?", flag, value, strings.Join(near, " or "))
	}
	return fail(usage, "--%s %q: it can be %s", flag, value, strings.Join(allowed, ", "))
}

// plural is "1 run", "2 runs", "2 entries".
func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	if stem, ok := strings.CutSuffix(one, "ry"); ok {
		one = stem + "rie"
	}
	return fmt.Sprintf("%s %ss", thousands(n), one)
}

// thousands writes 12345 as 12,345.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
