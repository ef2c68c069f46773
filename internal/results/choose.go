package results

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// Source is a document, and the directory of results that it comes from.
type Source struct {
	Dir string
	*Document
}

// File returns the file of the document.
func (p *Source) File() string { return filepath.Join(p.Dir, File) }

// of returns the number of shards; for a complete exploration that is 1.
func (h *Head) of() int {
	if h.Shards == nil {
		return 1
	}
	return h.Shards.Of
}

// have returns the numbers of the shards in a document.
func (h *Head) have() []int {
	if h.Shards == nil {
		return []int{1}
	}
	return h.Shards.Have
}

// ended reports whether an interrupt, or an error outside the environment, ended the
// command. The cells alone do not show it.
func (h *Head) ended() bool {
	return h.Interrupted || h.ExitCode > Unavailable.ExitCode() || h.Shards != nil && len(h.Shards.Cut) > 0
}

// Partial reports whether some runs are missing: an interrupt, an error or the
// environment ended the command.
func (h *Head) Partial() bool { return h.ended() || h.Verdict == Unavailable }

// Merged reports whether a document was merged from others.
func (h *Head) Merged() bool {
	return h.Shards != nil && len(h.Shards.Have)+len(h.Shards.Missing) == h.Shards.Of && h.Shards.Of > 1
}

// SameShard reports whether two documents are of the same shard of one exploration. It
// compares what is known before the first run.
func (h *Head) SameShard(o *Head) bool {
	return h.differs(o) == "" && slices.Equal(h.have(), o.have())
}

// Choose returns the parts that make up one exploration, ordered by shard, and the list
// of shards. A shard that is found twice with the same content counts once. A merged
// part counts only if there is no shard. It returns an error that names two files if
// parts are not of one exploration, or if two parts have the same shard and differ.
func Choose(parts []Source) (chosen []*Source, shards *Shards, err error) {
	parts = withoutMerged(parts)
	slices.SortFunc(parts, func(a, b Source) int { return cmp.Compare(a.Dir, b.Dir) })
	for i := range parts {
		if what := parts[0].differs(&parts[i].Head); what != "" {
			return nil, nil, fmt.Errorf("%s and %s are not of one exploration: %s", parts[0].File(), parts[i].File(), what)
		}
	}
	if err := agree(parts); err != nil {
		return nil, nil, err
	}
	by := map[int]*Source{}
	for i := range parts {
		p := &parts[i]
		for _, n := range p.have() {
			if was := by[n]; was == nil {
				by[n] = p
			} else if was.Essence() != p.Essence() || !slices.Equal(was.have(), p.have()) {
				return nil, nil, fmt.Errorf("%s and %s are both shard %d of %d, and they differ: leave out one of them", was.File(), p.File(), n, p.of())
			}
		}
	}
	shards = &Shards{Of: parts[0].of(), Have: slices.Sorted(maps.Keys(by))}
	for n := 1; n <= shards.Of; n++ {
		p := by[n]
		if p == nil {
			shards.Missing = append(shards.Missing, n)
			continue
		}
		if p.ended() && (!p.Merged() || slices.Contains(p.Shards.Cut, n)) {
			shards.Cut = append(shards.Cut, n)
		}
		if !slices.Contains(chosen, p) {
			chosen = append(chosen, p)
		}
	}
	if shards.Of == 1 && shards.Cut == nil {
		shards = nil
	}
	return chosen, shards, nil
}

// withoutMerged returns a copy of the parts without merged ones, if any of the rest is
// a shard.
func withoutMerged(parts []Source) []Source {
	merged := func(p Source) bool { return p.Merged() }
	if rest := slices.DeleteFunc(slices.Clone(parts), merged); slices.ContainsFunc(rest, func(p Source) bool { return p.Shards != nil }) {
		return rest
	}
	return slices.Clone(parts)
}

// differs returns the reason why two documents are not of one exploration, or "".
func (h *Head) differs(o *Head) string {
	for _, c := range []struct{ what, a, b string }{
		{"the version of lockcheck", h.Version, o.Version},
		{"the source of the build", cmp.Or(h.Revision, "unknown"), cmp.Or(o.Revision, "unknown")},
		{"the command", h.Command, o.Command},
		{"the number of shards", fmt.Sprint(h.of()), fmt.Sprint(o.of())},
	} {
		if c.a != c.b {
			return fmt.Sprintf("%s is %s in the one and %s in the other", c.what, c.a, c.b)
		}
	}
	var but []string
	if h.Command == "suite" {
		but = append(but, "arguments") // the file name of the suite; its digest is compared
	}
	switch name := unlike(h.Settings, o.Settings, but...); name {
	case "":
	case "suite", BaselineSetting:
		return called(name) + " was another one: all shards have to be run with the same"
	case RegressionsSetting:
		return called(name) + " were others: all shards have to replay the same"
	default:
		return fmt.Sprintf("%s is %s in the one and %s in the other", called(name), said(h.Settings, name), said(o.Settings, name))
	}
	return ""
}
