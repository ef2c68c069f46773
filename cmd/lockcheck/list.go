package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
)

// listings are what there is to list.
var listings = []struct {
	name string
	list func() []listed
}{
	{"locks", listLocks},
	{"faults", listFaults},
	{"cases", listCases},
	{"properties", listProperties},
}

type listed struct {
	Name string   `json:"name"`
	Does string   `json:"does"`
	On   []string `json:"on,omitempty"` // places
	More string   `json:"more,omitempty"`
}

func (a *app) listCommand() *cobra.Command {
	var names []string
	for _, l := range listings {
		names = append(names, l.name)
	}
	return &cobra.Command{
		Use:       "list " + strings.Join(names, "|"),
		Short:     "List what there is",
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return fail(usage, "list what? %s", strings.Join(names, ", "))
			}
			for _, l := range listings {
				if l.name != args[0] {
					continue
				}
				items := l.list()
				if a.json {
					return a.printJSON(map[string]any{"schema": 1, l.name: items})
				}
				width := 0
				for _, it := range items {
					width = max(width, len(it.Name))
				}
				for _, it := range items {
					text := it.Does
					if it.More != "" {
						text += ". " + it.More
					}
					a.paragraph(width+2, it.Name+strings.Repeat(" ", width+2-len(it.Name))+text)
				}
				return nil
			}
			return unknownName("list", args[0], names)
		},
	}
}

func listLocks() (items []listed) {
	for _, l := range catalogue.Locks {
		items = append(items, listed{Name: l.ID, Does: l.Does, More: "Promises " + l.Promise + ". Options: " + strings.Join(l.Options, ", ")})
	}
	return items
}

func listFaults() (items []listed) {
	targets := map[faults.Target]string{faults.OnClient: "a client", faults.OnServer: "a server", faults.OnLink: "a link"}
	for _, f := range faults.All() {
		more := "Acts on " + targets[f.On]
		if f.Need != "" {
			more += "; needs " + string(f.Need)
		}
		items = append(items, listed{Name: f.Name, Does: f.Does, On: places, More: more})
	}
	return items
}

func listCases() (items []listed) {
	for _, c := range catalogue.Cases {
		on := []string{}
		for _, p := range places {
			if c.NotOn[p] == "" {
				on = append(on, p)
			}
		}
		items = append(items, listed{Name: c.ID, Does: c.Title, On: on, More: "On " + strings.Join(on, ", ")})
	}
	return items
}

func listProperties() (items []listed) {
	for _, p := range checker.Properties {
		items = append(items, listed{Name: string(p), Does: p.Means()})
	}
	return items
}
