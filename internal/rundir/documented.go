package rundir

import (
	"fmt"
	"io"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/layout"
)

// writeCase writes what a documented run shows.
func writeCase(w io.Writer, j *harness.Judged) error {
	text := ""
	for _, n := range notes(j) {
		if n[0] != "Source" {
			text += "\n" + layout.Wrap(9, fmt.Sprintf("%-8s %s", n[0], n[1])) + "\n"
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// notes return what a documented run shows, which its history alone does not tell, each
// with its heading: the case in words, that its fault was left out, the remedy, the figure
// that the case measures, and the source.
func notes(j *harness.Judged) (list [][2]string) {
	c, s, ok := j.Plan.Documented()
	if !ok {
		return nil
	}
	undisturbed := c.Setup
	undisturbed.Server.Sequence = 0 // as harness.CasePlans leaves it out
	add := func(head, text string) { list = append(list, [2]string{head, text}) }
	switch (catalogue.Setup{Lock: j.Plan.Lock, Options: j.Plan.Options, Server: j.Plan.Server, Fencing: j.Plan.Fencing}) {
	case c.Setup, undisturbed:
		add("Case", c.Title+". "+c.Tells)
		switch {
		case j.Plan.Server != c.Setup.Server:
			add("Fault", "None: the same clients, and numbers of nodes that do not come to their end.")
		case len(j.Plan.Faults) == 0 && len(s.Faults) > 0:
			add("Fault", "None: the same clients in a run without the fault of the case.")
		case c.Remedy.None != "":
			add("Remedy", "None to run: "+c.Remedy.None+".")
		default:
			add("Remedy", "Not in this run: "+c.Remedy.Words)
		}
	case c.Remedy.Setup:
		add("Case", c.Title+". "+c.Tells)
		add("Remedy", c.Remedy.Words)
	default: // a lock or a set-up that nothing is documented of
		return nil
	}
	if f := c.Figure; f != nil {
		add("Measured", measured(j, f)+".")
	}
	add("Source", c.Source)
	return list
}

// measured returns the figure of a run, with its name.
func measured(j *harness.Judged, f *catalogue.Figure) string {
	return f.Of.Label() + ": " + f.Of.Figure(j.Measure(f.Of))
}
