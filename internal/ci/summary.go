package ci

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
)

// PageBytes is the size limit of a job's page: a quarter of the limit of GitHub for one
// step, because other programs may write to it as well.
const PageBytes = 256 << 10

// marks are the signs of the verdicts on the page.
var marks = map[results.Verdict]string{
	results.Held: "✅", results.Violated: "❌", results.Inconclusive: "❓", results.Unavailable: "⚠️", results.Known: "☑️", results.NotApplicable: "➖", results.Elsewhere: "➖",
	ended: "⚠️",
}

// Summary writes the page of a job in GitHub's Markdown: the verdict, the story of the
// first violation, other problems, the cells, further notes, and the commands for a
// replay. The page has at most limit bytes; Rest names the place of the part that was
// cut off. It returns the errors of w.
func (r *Report) Summary(w io.Writer, limit int) error {
	list := r.matters()
	var b strings.Builder
	r.verdict(&b)
	r.first(&b, list)
	others(&b, list)
	r.cells(&b)
	r.asides(&b)
	r.replays(&b, list)
	note := "The page is cut here."
	if r.Rest != "" {
		note = "The page is cut here; all of it is in " + inline(r.Rest) + "."
	}
	_, err := io.WriteString(w, cut(b.String(), limit, note))
	return err
}

// lines is the largest length of a list on the page: longer lists are not read, and
// hide the parts below them.
const lines = 20

// bullets writes a list.
func bullets(b *strings.Builder, list []string) {
	if more := len(list) - lines; more > 0 {
		list = append(slices.Clone(list[:lines]), fmt.Sprintf("and %d more", more))
	}
	for _, line := range list {
		fmt.Fprintf(b, "- %s\n", line)
	}
	if len(list) > 0 {
		b.WriteByte('\n')
	}
}

// verdict writes the verdict, and how much was tested.
func (r *Report) verdict(b *strings.Builder) {
	promises, aside := r.BrokenPromises()
	words := map[results.Verdict]string{
		results.Held:         "Held: every promise was kept",
		results.Violated:     "Violated: " + names.Count(promises, "promise") + " broken",
		results.Inconclusive: "Inconclusive: it proves nothing either way",
		results.Unavailable:  "Not available: the environment could not be set up, or broke down",
		results.Elsewhere:    "Elsewhere: nothing is shown without the other shards",
	}[r.Verdict]
	if promises > 0 && r.Verdict != results.Violated {
		words += "; " + names.Count(promises, "promise") + " broken"
	}
	if aside > 0 {
		words += "; " + names.Count(aside, "known violation") + " aside"
	}
	fmt.Fprintf(b, "## %s %s\n\n", marks[r.Verdict], words)
	about := fmt.Sprintf("lockcheck %s %s: %s in %s", r.Version, r.Command, names.Count(r.Runs, "run"), names.Count(len(r.Cells), "cell"))
	fmt.Fprintf(b, "%s, exit code %d.\n\n", text(about), r.ExitCode)
	for _, words := range r.Cuts() {
		fmt.Fprintf(b, "%s.\n\n", text(words))
	}
}

// first writes the story of the first violation.
func (r *Report) first(b *strings.Builder, list []matter) {
	if len(list) == 0 || list[0].of == nil {
		return
	}
	m := &list[0]
	fmt.Fprintf(b, "### %s\n\n%s\n\n", text(m.title()), text(m.words))
	if story := r.story(m.of.Counterexample); story != "" {
		b.WriteString(fenced("text", story))
	}
}

// others writes the matters that are not violations; those with the same reason are
// joined.
func others(b *strings.Builder, list []matter) {
	type reason struct{ kind, sign, words string }
	var order []reason
	cells := map[reason][]string{}
	for _, m := range list {
		if m.of != nil {
			continue
		}
		why := reason{m.kind(), marks[m.verdict], m.body()}
		if _, seen := cells[why]; !seen {
			order = append(order, why)
			cells[why] = nil
		}
		if m.cell != nil {
			cells[why] = append(cells[why], m.cell.Name)
		}
	}
	var found []string
	for _, why := range order {
		title := why.kind
		if of := cells[why]; of != nil {
			title += ": " + names.Some(of)
		}
		found = append(found, fmt.Sprintf("%s %s: %s", why.sign, text(title), text(why.words)))
	}
	bullets(b, found)
}

// cells writes the cells as a table, the worst first, because a long table is cut at
// its end.
func (r *Report) cells(b *strings.Builder) {
	if len(r.Cells) == 0 {
		return
	}
	cells := make([]*results.Cell, len(r.Cells))
	for i := range r.Cells {
		cells[i] = &r.Cells[i]
	}
	slices.SortStableFunc(cells, func(x, y *results.Cell) int { return graver(x.Verdict, y.Verdict) })
	b.WriteString("### Cells\n\n| Cell | Verdict | Runs | Violated |\n| --- | --- | ---: | --- |\n")
	for _, c := range cells {
		var violated []string
		for i := range c.Properties {
			p := &c.Properties[i]
			if !p.Is(checker.Violated) {
				continue
			}
			words := string(p.Property) + " in " + often(c, p)
			switch {
			case !p.Promised:
				words += " (not promised)"
			case p.Known:
				words += " (known)"
			}
			violated = append(violated, text(words))
		}
		fmt.Fprintf(b, "| %s | %s %s | %d | %s |\n", text(c.Name), marks[c.Verdict], c.Verdict, c.Runs, strings.Join(violated, "<br>"))
	}
	b.WriteByte('\n')
}

// asides writes notes that change no verdict, or that change it without being about a
// run.
func (r *Report) asides(b *strings.Builder) {
	var list []string
	if r.Retried > 0 {
		list = append(list, text(names.Count(r.Retried, "run")+" had to be tried again because of the environment, not of a lock."))
	}
	if s := r.Shards; s != nil {
		list = append(list, text(fmt.Sprintf("These are the runs of %s of %d.", names.Numbered("shard", s.Have), s.Of)))
	}
	if base := r.Baseline; base != nil {
		for _, part := range []struct {
			list  []results.Violation
			words string
		}{
			{base.New, "not known to the baseline %s"},
			{base.Known, "known to the baseline %s, and found again"},
			{base.Gone, "known to the baseline %s, and not found any more: take it out"},
			{base.Unseen, "known to the baseline %s, and not looked for as long as then, or not at all"},
		} {
			for _, v := range part.list {
				list = append(list, text(fmt.Sprintf("%s of %s: %s.", v.Property, v.Cell, fmt.Sprintf(part.words, base.File))))
			}
		}
	}
	bullets(b, list)
}

// replays writes the commands that replay the violations.
func (r *Report) replays(b *strings.Builder, list []matter) {
	var commands []string
	for _, m := range list {
		if m.of != nil && m.of.Counterexample != nil && m.of.Replay != "" && !slices.Contains(commands, m.of.Replay) {
			commands = append(commands, m.of.Replay)
		}
	}
	if more := len(commands) - lines; more > 0 {
		commands = append(commands[:lines], fmt.Sprintf("# and %d more", more))
	}
	if len(commands) > 0 {
		b.WriteString("### Again\n\n" + fenced("sh", strings.Join(commands, "\n")))
	}
}
