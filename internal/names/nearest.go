// Package names handles the names that users type: the known names, lists of them in
// flags and files, and suggestions for misspelt ones.
package names

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// few is the longest list of names that an error prints in full, and the number of
// names that it prints from a longer one.
const (
	few   = 9
	three = 3
)

// lists are the commands that list all names of a kind.
var lists = map[string]string{
	"case":     "lockcheck list cases",
	"command":  "lockcheck help",
	"fault":    "lockcheck list faults",
	"key":      "lockcheck list keys",
	"lock":     "lockcheck list locks",
	"model":    "lockcheck list models",
	"option":   "lockcheck list locks",
	"property": "lockcheck list properties",
	"workload": "lockcheck list workloads",
}

// Unknown returns the error for an unknown name, with suggestions. If there are many
// names, it prints the nearest, and the command that lists all.
func Unknown(what, name string, known []string) error {
	near, list := Nearest(name, known), lists[what]
	switch {
	case len(near) > 0:
		return fmt.Errorf("no %s %q; did you mean %s?", what, name, strings.Join(near, " or "))
	case len(known) <= few || list == "":
		return fmt.Errorf("no %s %q; there are %s", what, name, strings.Join(known, ", "))
	}
	var nearest []string
	for _, s := range byDistance(name, known)[:three] {
		nearest = append(nearest, s.name)
	}
	return fmt.Errorf("no %s %q; the nearest are %s (all: %s)", what, name, strings.Join(nearest, ", "), list)
}

// Some returns the names of a list, or the first few of a long one.
func Some(list []string) string {
	if len(list) <= few {
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:three], ", "), len(list)-three)
}

// Nearest returns up to three names that may have been meant by name; upper and lower
// case count as equal.
func Nearest(name string, known []string) []string {
	var near []string
	for _, s := range byDistance(name, known) {
		switch {
		case s.distance == 0:
			return []string{s.name}
		case s.distance <= max(2, len(name)/3) && len(near) < three:
			near = append(near, s.name)
		}
	}
	return near
}

type scored struct {
	name     string
	distance int
}

// byDistance sorts the names by distance. A name that contains name is near.
func byDistance(name string, known []string) (list []scored) {
	name = strings.ToLower(name)
	for _, k := range known {
		lower := strings.ToLower(k)
		d := distance(name, lower)
		if d > 0 && len(name) > 2 && strings.Contains(lower, name) {
			d = 1
		}
		list = append(list, scored{k, d})
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(a.distance, b.distance) })
	return list
}

// distance returns the Levenshtein distance: the number of letters to insert, delete or
// replace.
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
