package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/suite"
	"github.com/lockcheck/lockcheck/workloads"
)

// listings are the available lists.
var listings = []struct {
	name string
	list func() []listed
	in   func(*listDocument) *[]listed
}{
	{"locks", listLocks, func(d *listDocument) *[]listed { return &d.Locks }},
	{"faults", listFaults, func(d *listDocument) *[]listed { return &d.Faults }},
	{"workloads", listWorkloads, func(d *listDocument) *[]listed { return &d.Workloads }},
	{"cases", listCases, func(d *listDocument) *[]listed { return &d.Cases }},
	{"properties", listProperties, func(d *listDocument) *[]listed { return &d.Properties }},
	{"models", listModels, func(d *listDocument) *[]listed { return &d.Models }},
	{"reached", listReached, func(d *listDocument) *[]listed { return &d.Reached }},
	{"hazards", listHazards, func(d *listDocument) *[]listed { return &d.Hazards }},
	{"keys", listKeys, func(d *listDocument) *[]listed { return &d.Keys }},
}

// listDocument is what list prints with --json: one list.
type listDocument struct {
	Schema     int      `json:"schema"`               // version of this document
	Locks      []listed `json:"locks,omitempty"`      // of list locks
	Faults     []listed `json:"faults,omitempty"`     // of list faults
	Workloads  []listed `json:"workloads,omitempty"`  // of list workloads
	Cases      []listed `json:"cases,omitempty"`      // of list cases
	Properties []listed `json:"properties,omitempty"` // of list properties
	Models     []listed `json:"models,omitempty"`     // of list models
	Reached    []listed `json:"reached,omitempty"`    // of list reached: the counters
	Hazards    []listed `json:"hazards,omitempty"`    // of list hazards: by fault, the situations that could have broken properties
	Keys       []listed `json:"keys,omitempty"`       // of list keys: the keys of lockcheck.yaml
}

// listed is an item of a list.
type listed struct {
	Name    string         `json:"name"`                // its name on the command line
	Does    string         `json:"does"`                // its description
	On      []string       `json:"on,omitempty"`        // environments in which it can happen
	Acts    string         `json:"acts_on,omitempty"`   // the target of a fault
	Needs   string         `json:"needs,omitempty"`     // the ability of the environment that a fault needs, or of the lock that a workload needs
	Promise string         `json:"promise,omitempty"`   // the promise of a lock
	Like    string         `json:"like,omitempty"`      // the sound lock of a flawed variant
	Flaw    string         `json:"flaw,omitempty"`      // the flaw of a flawed variant
	Source  string         `json:"source,omitempty"`    // where it is described
	Options []listedOption `json:"options,omitempty"`   // options that a lock takes with --option
	State   string         `json:"remembers,omitempty"` // the state of a model
	Number  string         `json:"number,omitempty"`    // the meaning of N in the model NAME=N
	Is      string         `json:"is,omitempty"`        // the type of the value of a key
}

// listedOption is an option of a lock.
type listedOption struct {
	Name string `json:"name"` // its name on the command line
	Does string `json:"does"` // its effect
}

// text returns the description for people, in sentences.
func (l *listed) text() string {
	text := l.Does
	if l.State != "" {
		text = "Remembers " + l.State + ". " + text
	}
	if l.Is != "" {
		text = "(" + l.Is + ") " + text
	}
	add := func(before, what string) {
		if what != "" {
			text += ". " + before + what
		}
	}
	add("Promises ", l.Promise)
	add("Flawed: it ", l.Flaw)
	add("Acts on ", l.Acts)
	add("Needs ", l.Needs)
	add("Source: ", l.Source)
	var options []string
	for _, o := range l.Options {
		options = append(options, o.Name)
	}
	add("In "+l.Name+"=N, N is ", l.Number)
	add("Options: ", strings.Join(options, ", "))
	add("On ", strings.Join(l.On, ", "))
	return text
}

func (a *app) listCommand() *cobra.Command {
	var names []string
	for _, l := range listings {
		names = append(names, l.name)
	}
	return &cobra.Command{
		Use:       "list WHAT",
		Short:     "List what there is",
		Long:      "List what there is. WHAT is one of\n" + strings.Join(names, ", ") + ".",
		ValidArgs: names,
		// Keeps the usage line within the width of a terminal.
		DisableFlagsInUseLine: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Errorf(exit.Usage, "list what? %s", strings.Join(names, ", "))
			}
			if len(args) > 1 {
				return exit.Errorf(exit.Usage, "list one thing at a time: leave out %s", strings.Join(args[1:], " "))
			}
			for _, l := range listings {
				if l.name != args[0] {
					continue
				}
				items := l.list()
				if a.JSON {
					doc := listDocument{Schema: 1}
					*l.in(&doc) = items
					return a.PrintJSON(doc)
				}
				width := 0
				for _, it := range items {
					width = max(width, len(it.Name))
				}
				for _, it := range items {
					a.Row(width, it.Name, it.text())
				}
				if l.name == "locks" {
					a.Printf("\nOptions, for --option:\n\n")
					for _, o := range catalogue.AllOptions {
						a.Row(width, o.Name, o.Does)
					}
				}
				return nil
			}
			return ask.Unknown("list", args[0], names)
		},
	}
}

func listLocks() (items []listed) {
	for _, l := range catalogue.Locks {
		it := listed{Name: l.ID, Does: l.Does, Promise: l.Promise, Source: l.Source, Like: l.Like, Flaw: l.Flaw}
		for _, o := range catalogue.AllOptions {
			if slices.Contains(l.Options, o.Name) {
				it.Options = append(it.Options, listedOption{o.Name, o.Does})
			}
		}
		items = append(items, it)
	}
	return items
}

func listFaults() (items []listed) {
	for _, f := range faults.All() {
		it := listed{Name: f.Name, Does: f.Does, On: []string{}, Acts: f.On.String(), Needs: string(f.Need)}
		for _, p := range suite.Places {
			if f.Available(batch.Offers(p, true)) == nil {
				it.On = append(it.On, p)
			}
		}
		items = append(items, it)
	}
	return items
}

func listWorkloads() (items []listed) {
	for _, w := range workloads.All() {
		items = append(items, listed{Name: w.Name, Does: w.Does, Needs: string(w.Need)})
	}
	return items
}

func listCases() (items []listed) {
	for _, c := range catalogue.Cases {
		it := listed{Name: c.ID, Does: c.Title, On: []string{}, Source: c.Source}
		for _, p := range suite.Places {
			if c.NotOn[p] == "" && p != suite.External {
				it.On = append(it.On, p)
			}
		}
		items = append(items, it)
	}
	return items
}

func listProperties() (items []listed) {
	for _, p := range checker.Properties {
		items = append(items, listed{Name: string(p), Does: p.Means()})
	}
	return items
}

func listModels() (items []listed) {
	for _, m := range models.All() {
		it := listed{Name: m.Name, Does: phrase(m.Rules), State: phrase(m.State), Source: phrase(m.Source)}
		if m.Param != "" {
			it.Number = "its " + m.Param
			if _, err := models.Parse(m.Name); err == nil {
				it.Number += ", which can be left out"
			}
		}
		items = append(items, it)
	}
	return items
}

// phrase returns a sentence without its full stop.
func phrase(text string) string { return strings.TrimRight(text, ".") }

func listReached() (items []listed) {
	for _, c := range checker.Counters() {
		items = append(items, listed{Name: c.String(), Does: c.Means()})
	}
	return items
}

// listHazards lists, for each fault and for none, the events that must have happened
// before a property that held counts as tested.
func listHazards() (items []listed) {
	names := []string{checker.NoFault}
	for _, f := range faults.All() {
		names = append(names, f.Name)
	}
	for _, name := range names {
		var parts []string
		for i, p := range checker.Properties {
			h := checker.HazardOf(name, p)
			same := func(p checker.Property) bool { return checker.HazardOf(name, p) == h }
			if slices.ContainsFunc(checker.Properties[:i], same) {
				continue
			}
			var of []string
			for _, p := range checker.Properties[i:] {
				if same(p) {
					of = append(of, string(p))
				}
			}
			parts = append(parts, strings.Join(of, ", ")+": "+h.Reached)
		}
		items = append(items, listed{Name: name, Does: strings.Join(parts, "; ")})
	}
	return items
}

// listKeys lists the keys of a suite; those of its entries begin with "locks".
func listKeys() (items []listed) {
	plain := strings.NewReplacer("`", "")
	for _, k := range suite.Keys() {
		items = append(items, listed{Name: k.Name, Does: phrase(plain.Replace(k.About)), Is: plain.Replace(k.Is)})
	}
	return items
}
