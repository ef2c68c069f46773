package results

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/names"
)

// The settings that are digests of files, beside the one of the suite's file.
const (
	BaselineSetting    = "baseline"
	RegressionsSetting = "regressions" // of the kept counterexamples
)

// called returns the name of a setting for people.
func called(setting string) string {
	switch setting {
	case "arguments":
		return "what was named"
	case "suite":
		return "the suite's file"
	case BaselineSetting:
		return "the baseline"
	case RegressionsSetting:
		return "the counterexamples of the past"
	case "os":
		return "the operating system"
	}
	if strings.ToUpper(setting) == setting {
		return setting // a setting of the environment
	}
	return "--" + setting
}

// said returns the value of a setting for people.
func said(settings map[string]string, name string) string {
	if value, is := settings[name]; is {
		return value
	}
	return "not set"
}

// agree returns an error if a cell differs between parts of one exploration. Only a
// part that was ended early may lack cells.
func agree(parts []Source) error {
	type first struct {
		*Cell
		part *Source
	}
	seen, whole := map[string]first{}, -1
	has, frames := make([]map[string]bool, len(parts)), make([][]Cell, len(parts))
	for i := range parts {
		p := &parts[i]
		if whole < 0 && !p.Partial() {
			whole = i
		}
		has[i] = map[string]bool{}
		frames[i] = p.frame()
		for j := range frames[i] {
			c := &frames[i][j]
			has[i][c.Name] = true
			if was, twice := seen[c.Name]; !twice {
				seen[c.Name] = first{c, p}
			} else if what := was.unlike(c); what != "" {
				return was.part.disagrees(p, fmt.Sprintf("of the cell %q %s", c.Name, what))
			}
		}
	}
	for i := range parts {
		if whole < 0 {
			break
		}
		for _, pair := range [][2]int{{i, whole}, {whole, i}} {
			p, o := &parts[pair[0]], &parts[pair[1]]
			lacks := slices.IndexFunc(frames[pair[0]], func(c Cell) bool { return !has[pair[1]][c.Name] })
			if lacks >= 0 && !o.Partial() {
				return p.disagrees(o, fmt.Sprintf("only the former has the cell %q", frames[pair[0]][lacks].Name))
			}
		}
	}
	return nil
}

// disagrees returns the error for two parts that do not belong together.
func (p *Source) disagrees(o *Source, what string) error {
	which := func(p *Source) string { return fmt.Sprintf("%s (%s)", p.File(), names.Numbered("shard", p.have())) }
	return fmt.Errorf("%s and %s are not of one exploration: %s", which(p), which(o), what)
}

// unlike describes the first difference between a cell of two shards, or returns "".
func (c *Cell) unlike(o *Cell) string {
	for _, f := range []struct{ what, a, b string }{
		{"the lock", c.Lock, o.Lock},
		{"the place", c.On, o.On},
		{"the first seed", fmt.Sprint(c.Seed), fmt.Sprint(o.Seed)},
		{"what is promised", strings.Join(c.Promises.Strings(), ","), strings.Join(o.Promises.Strings(), ",")},
		{"the kind of lock", c.Kind, o.Kind},
		{"the digest of its settings", c.Settings, o.Settings},
		{"whether it applies", c.applies(), o.applies()},
	} {
		if f.a != f.b {
			return fmt.Sprintf("%s is %q in the one and %q in the other", f.what, f.a, f.b)
		}
	}
	return ""
}

// applies says whether the fault can strike the lock, and why not.
func (c *Cell) applies() string {
	if c.Verdict == NotApplicable {
		return "no: " + c.Reason
	}
	return "yes"
}
