package checker

import "slices"

// A Promise is a list of properties that must hold; empty: all that apply. It
// may name some that this lockcheck cannot judge: they stand in files that a
// later one wrote.
type Promise []Property

// Contested are the properties that it takes two clients to break: where there
// is one, that they hold says nothing.
var Contested = []Property{Exclusion, LeaseExclusion, Fairness}

// Covers tells whether p is among them.
func (pr Promise) Covers(p Property) bool {
	return len(pr) == 0 || slices.Contains(pr, p)
}

// Judge is what the outcomes of all properties say about the promise: Violated
// if one that it covers is; Unknown if one is, if one that it names does not
// apply or is not known here, or if none applies; else Valid.
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

// Strange are the properties in pr that this lockcheck does not know.
func (pr Promise) Strange() (list Promise) {
	for _, p := range pr {
		if !slices.Contains(Properties[:], p) {
			list = append(list, p)
		}
	}
	return list
}

// Strings are the properties' names.
func (pr Promise) Strings() (list []string) {
	for _, p := range pr {
		list = append(list, string(p))
	}
	return list
}
