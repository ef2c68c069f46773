package checker

import "slices"

// A Promise is a list of properties that must hold; empty: all that apply. It may
// name properties that this lockcheck cannot judge, in files that a later version
// wrote.
type Promise []Property

// Contested are the properties that only two clients can break: with one client, that
// they hold proves nothing.
var Contested = []Property{Exclusion, LeaseExclusion, Fairness}

// Covers reports whether p must hold.
func (pr Promise) Covers(p Property) bool {
	return len(pr) == 0 || slices.Contains(pr, p)
}

// Judge combines the outcomes of all properties for the promise. It returns Violated
// if a covered property is violated. It returns Unknown if a covered property is
// unknown, if a named one does not apply or is not known here, or if none applies.
// Otherwise it returns Valid.
func (pr Promise) Judge(outcome func(Property) Outcome) Outcome {
	judged, open := false, len(pr.Strange()) > 0
	for _, p := range Properties {
		if !pr.Covers(p) {
			continue
		}
		switch outcome(p) {
		case Violated:
			return Violated
		case Unknown:
			open = true
		case NA:
			open = open || len(pr) > 0
		case Valid:
			judged = true
		}
	}
	if open || !judged {
		return Unknown
	}
	return Valid
}

// Strange returns the properties in pr that this lockcheck does not know.
func (pr Promise) Strange() (list Promise) {
	for _, p := range pr {
		if !slices.Contains(Properties[:], p) {
			list = append(list, p)
		}
	}
	return list
}

// Strings returns the properties' names.
func (pr Promise) Strings() (list []string) {
	for _, p := range pr {
		list = append(list, string(p))
	}
	return list
}
