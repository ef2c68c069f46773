package results

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Source is a document that may be that of a shard, and the file that it is in.
type Source struct {
	File string
	*Head
	Runs    int
	Cells   []Cell   // of a matrix only what all shards say alike of them
	Essence string   // what two results of one shard have in common
	Broken  []string // violations of what was promised, as people read them
	Chosen  string   // why it counts though it is not whole, and another is; "": there is nothing to say
	Again   *Source  // of one that counts though it is not whole: the one that is; nil: none is
}

// of is how many shards there are, of a whole exploration one.
func (p *Source) of() int {
	if p.Shards == nil {
		return 1
	}
	return p.Shards.Of
}

// have are the shards that the part is, or was merged from.
func (p *Source) have() []int {
	if p.Shards == nil {
		return []int{1}
	}
	return p.Shards.Have
}

// ended tells whether somebody, or an error that is none of the place, ended it. The
// cells alone do not say so.
func (h *Head) ended() bool { return h.Interrupted || h.ExitCode > Unavailable.ExitCode() }

// Partial tells whether not all was done, because somebody, an error or the place
// ended it.
func (p *Source) Partial() bool {
	return p.ended() || p.Verdict == Unavailable || p.Shards != nil && len(p.Shards.Cut) > 0
}

// Merged tells whether a document was merged from others.
func (h *Head) Merged() bool {
	return h.Shards != nil && len(h.Shards.Have)+len(h.Shards.Missing) == h.Shards.Of && h.Shards.Of > 1
}

// Differs says in what two documents cannot be of one exploration, or "".
func (h *Head) Differs(o *Head) string {
	a, b := Source{Head: h}, Source{Head: o}
	return a.differs(&b)
}

// SameShard tells whether two documents are of the same shards of one exploration,
// as far as it is said before the first run.
func (h *Head) SameShard(o *Head) bool {
	a, b := Source{Head: h}, Source{Head: o}
	return h.Differs(o) == "" && slices.Equal(a.have(), b.have())
}

// Choose returns those of the parts that make up one exploration, by the number
// of their shards, and which shards they are. Of two results of one shard it takes
// the one that is whole, but never drops a violation of a promise for it: where only
// the other has one, that is chosen, and says so; Again is the whole one then. What
// was merged from shards that are there counts for nothing. It is an error, which
// names the files, if parts are not of one exploration, if two whole results of one
// shard differ, or if a violation would be lost whatever counts.
func Choose(parts []Source) (chosen []*Source, shards *Shards, err error) {
	parts, merged := apart(parts)
	for i := range parts {
		if what := parts[0].differs(&parts[i]); what != "" {
			return nil, nil, fmt.Errorf("%s and %s are not of one exploration: %s", parts[0].File, parts[i].File, what)
		}
	}
	if err := agree(parts); err != nil {
		return nil, nil, err
	}
	// In this order what is found of a shard does not hang on how its files are called:
	// what is whole comes first, and then what has most violations of promises.
	slices.SortStableFunc(parts, func(a, b Source) int {
		if a.Partial() != b.Partial() {
			return map[bool]int{false: -1, true: 1}[a.Partial()]
		}
		return cmp.Or(cmp.Compare(len(b.Broken), len(a.Broken)), cmp.Compare(b.Runs, a.Runs))
	})
	by := map[int]*Source{}
	for i := range parts {
		for _, n := range parts[i].have() {
			if by[n], err = better(by[n], &parts[i], n); err != nil {
				return nil, nil, err
			}
		}
	}
	shards = &Shards{Of: parts[0].of(), Have: slices.Sorted(maps.Keys(by))}
	for n := 1; n <= shards.Of; n++ {
		p := by[n]
		switch {
		case p == nil:
			shards.Missing = append(shards.Missing, n)
			continue
		case p.Again != nil: // nothing is left to do of it
		case p.ended() || p.Shards != nil && slices.Contains(p.Shards.Cut, n):
			shards.Cut = append(shards.Cut, n)
		}
		if !slices.Contains(chosen, p) {
			chosen = append(chosen, p)
		}
	}
	if shards.Of == 1 && shards.Cut == nil {
		shards = nil
	}
	return chosen, shards, nothingLost(merged, chosen)
}

// apart sorts parts by their files, and takes out what was merged from shards that
// are there, or that all have been done anew as those of another exploration.
func apart(parts []Source) (some, merged []Source) {
	parts = slices.Clone(parts)
	slices.SortFunc(parts, func(a, b Source) int { return cmp.Compare(a.File, b.File) })
	single := map[int]bool{}
	var one *Source
	for i := range parts {
		if p := &parts[i]; !p.Merged() {
			one, single[p.have()[0]] = p, true
		}
	}
	for _, p := range parts {
		lacking := slices.ContainsFunc(p.have(), func(n int) bool { return !single[n] })
		anew := one != nil && len(single) == one.of() && one.differs(&p) != ""
		if p.Merged() && (!lacking || anew) {
			merged = append(merged, p)
		} else {
			some = append(some, p)
		}
	}
	return some, merged
}

// nothingLost says that a merged result, whose shards are the chosen ones, has a
// violation of a promise that none of them has: they may have been done again since.
// What is of another exploration is no matter of this one.
func nothingLost(merged []Source, chosen []*Source) error {
	for i := range merged {
		p := &merged[i]
		if chosen[0].differs(p) != "" {
			continue
		}
		if only := p.beyond(chosen...); only != nil {
			return fmt.Errorf("%s was merged from shards that are here, and has a violation that they do not have: %s. Name only those that count", p.File, strings.Join(only, ", "))
		}
	}
	return nil
}

// better is the one of two results of shard n that counts; a may be nil.
func better(a, b *Source, n int) (*Source, error) {
	switch {
	case a == nil:
		return b, nil
	case !slices.Equal(a.have(), b.have()):
		return nil, fmt.Errorf("shard %d is in %s and in %s, of which one was merged from several: leave out one of them", n, a.File, b.File)
	case a.Essence == b.Essence:
		return a, nil
	case a.Partial() || b.Partial():
		return a.or(b, n)
	case a.Shards == nil:
		return nil, fmt.Errorf("%s and %s are two whole results, and they differ: there is nothing to join", a.File, b.File)
	}
	return nil, fmt.Errorf("%s and %s are both shard %d of %d, and they differ: leave out one of them", a.File, b.File, n, a.of())
}

// or is the one of two results of shard n that counts where not both are whole: the
// one with the violation that the other lacks, which says which one is whole, else
// the one that is whole, or has more.
func (p *Source) or(o *Source, n int) (*Source, error) {
	if p.Again != nil {
		if o.beyond(p, p.Again) == nil {
			return p, nil
		}
		if p.beyond(o, p.Again) == nil {
			return p.Again.or(o, n)
		}
	}
	counts, other := p, o
	if p.Partial() && (!o.Partial() || o.Runs > p.Runs) {
		counts, other = o, p
	}
	only := other.beyond(counts)
	switch {
	case only == nil:
		return counts, nil
	case counts.beyond(other) != nil:
		return nil, fmt.Errorf("%s and %s are both shard %d of %d, and each has a violation that the other does not have: leave out one of them", p.File, o.File, n, p.of())
	}
	broke := strings.Join(only, ", ")
	if counts.Partial() {
		other.Chosen = fmt.Sprintf("of shard %d %s counts, and not %s, which does not have the violation of %s", n, other.File, counts.File, broke)
	} else {
		other.Again = counts
		other.Chosen = fmt.Sprintf("of shard %d %s counts, and beside it the violation of %s, which only %s has", n, counts.File, broke, other.File)
	}
	return other, nil
}

// Supersedes tells whether nothing is lost if a result takes the place of another one
// of the same shard: it is whole, and has every violation of a promise that that has.
func (p *Source) Supersedes(o *Source) bool {
	return !p.Partial() && p.SameShard(o.Head) && o.beyond(p) == nil
}

// beyond are the violations of promises that none of the others has.
func (p *Source) beyond(others ...*Source) (only []string) {
	for _, v := range p.Broken {
		if !slices.ContainsFunc(others, func(o *Source) bool { return slices.Contains(o.Broken, v) }) {
			only = append(only, v)
		}
	}
	return only
}

// differs says in what two parts cannot be of one exploration, or "".
func (p *Source) differs(o *Source) string {
	for _, c := range []struct{ what, a, b string }{
		{"the version of lockcheck", p.Version, o.Version},
		{"what it was built from", cmp.Or(p.Revision, "unknown"), cmp.Or(o.Revision, "unknown")},
		{"the command", p.Command, o.Command},
		{"the number of shards", fmt.Sprint(p.of()), fmt.Sprint(o.of())},
	} {
		if c.a != c.b {
			return fmt.Sprintf("%s is %s in the one and %s in the other", c.what, c.a, c.b)
		}
	}
	var but []string
	if p.Command == "suite" {
		but = append(but, "arguments") // how its file was called; its digest is compared
	}
	switch name := unlike(p.Settings, o.Settings, but...); name {
	case "":
	case "suite", BaselineSetting:
		return called(name) + " was another one: all shards have to be run with the same"
	case RegressionsSetting:
		return called(name) + " were others: all shards have to replay the same"
	default:
		a, inA := p.Settings[name]
		b, inB := o.Settings[name]
		return fmt.Sprintf("%s is %s in the one and %s in the other", called(name), said(a, inA), said(b, inB))
	}
	return ""
}
