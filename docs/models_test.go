package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker/models"
)

// aboutModels stands above what is generated from the models.
const aboutModels = `# The models

<!-- Written by go test ./docs -update, from the table in checker/models. -->

A model is a lock as it should be, or something that a lock guards: what it remembers, and what it allows. A history is valid by a model if every
operation can be given an instant between its invoke and its completion at which it took effect, so that the model allows them in that order
(linearizability). Nothing but the order of the lines counts, except where a model speaks of time.

    lockcheck check --model semaphore=2 history.edn

judges by one model. A history without lockcheck's first line is held against ` + "`owner-mutex`" + ` where no model is named.

- An operation that ended with ` + "`ok`" + ` happened, one that ended with ` + "`fail`" + ` did not. One that ended with ` + "`info`" + `, or not at all, may have happened at any time
  after its invoke, or never.
- A release that failed had no effect, and its process holds on. With ` + "`--failed-release released`" + ` it found that the lock was gone, and its process
  holds no longer.
- A grant belongs to the process whose acquire got it. A release or an extend that names a grant is about that one; one that names none is about what its process
  got last and has not released, else about what its client may have. Where that may be several grants, a violation is unknown, not certain.
- A release that is said to have worked releases once. If an earlier one had no answer, the later ok confirms it, and the hold ended at the invoke of the earlier one.
- A line ` + "`lost`" + `, an extend that failed with ` + "`lost` or `not-held`" + `, and the ` + "`kill`, `poweroff` or `exit`" + ` of a client (a line of ` + "`nemesis`" + ` that names it) end what is certain: from there on the
  lock may be free, or not. Who was killed in a pause did nothing since it began.
- A try that was refused says nothing. With ` + "`--strict-try`" + ` it was refused because somebody held.
- Locks of different names have nothing to do with each other.

Each model has a direct judge, which takes O(n log n) and says what convicts. Below stands why it is right, and what it leaves to
[Porcupine](https://github.com/anishathalye/porcupine), a general search, which ` + "`--timeout`" + ` and ` + "`--memory`" + ` bound: what is not decided by then is unknown.

| model | remembers |
|---|---|
`

func modelsPage() string {
	var b strings.Builder
	b.WriteString(aboutModels)
	for _, m := range models.All() {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s |\n", m.Name, m.Name, m.State)
	}
	b.WriteString("\n")
	for _, m := range models.All() {
		fmt.Fprintf(&b, "## %s\n\n", m.Name)
		if m.Param != "" {
			needed := "needs it"
			if _, err := models.Parse(m.Name); err == nil {
				needed = "works without it"
			}
			fmt.Fprintf(&b, "`--model %s=N`, where N is its %s; it %s.\n\n", m.Name, m.Param, needed)
		}
		for _, part := range []struct{ head, text string }{
			{"Remembers", m.State}, {"Rules", m.Rules}, {"Source", m.Source}, {"How it is judged", m.Exact},
		} {
			fmt.Fprintf(&b, "**%s.** %s.\n\n", part.head, sentences(part.text))
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// sentences is a text that begins with a capital letter, without its last full
// stop.
func sentences(text string) string {
	text = strings.TrimRight(text, ". ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// The page on models is what their table says.
func TestThePageOfModels(t *testing.T) {
	holdPage(t, "models.md", modelsPage())
	for _, m := range models.All() {
		for what, text := range map[string]string{"state": m.State, "rules": m.Rules, "source": m.Source, "exactness": m.Exact} {
			if strings.Trim(text, ". ") == "" {
				t.Errorf("%s has no %s", m.Name, what)
			}
		}
	}
}
