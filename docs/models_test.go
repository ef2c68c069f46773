package docs

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker/models"
)

// aboutModels is the text above the generated part.
const aboutModels = `# The models

<!-- Written by go test ./docs -update, from the table in checker/models. -->

A model is a lock as it should be, or something that a lock guards: what it remembers, and what it allows. A history is valid by a model if every
operation can be given an instant between its invoke and its completion at which it took effect, so that the model allows them in that order
(linearizability). Nothing but the order of the lines counts, except where a model speaks of time.

    lockcheck check --model semaphore=2 history.edn

judges by one model. A history without lockcheck's first line is held against ` + "`owner-mutex`" + ` where no model is named.

- An operation that ended with ` + "`ok`" + ` happened, one that ended with ` + "`fail`" + ` did not. One that ended with ` + "`info`" + `, or not at all, may have happened at any time
  after its invoke, or never.
- A release that failed had no effect, and its process holds on. With ` + "`--failed-release released`" + ` it may have found that the lock was gone: its process
  may hold no longer, from the invoke of that release on. A later ok of a release confirms that, a later ok of an extend proves that it still held.
- A grant belongs to the process whose acquire got it. After an ` + "`info`" + ` a new number of the same client goes on for the process that ended so: both are one process, for all that follows.
  If two of them ended so before that, it goes on for the later one, and nobody does for the other.
- A release or an extend that names a grant is about that one; the invoke of an acquire may name it already. One that names none is about what its process
  got last and has not released; if there is nothing such, about any one grant that its client may have, acquires without an answer or still open included. The history
  is valid if one choice makes it so, and violated if every choice does; where that is not settled it is unknown. An operation that had no effect leaves no doubt:
  an extend that failed, and a release that failed, unless ` + "`--failed-release released`" + ` is given.
- A release that is said to have worked releases once. If an earlier one had no answer, the later ok confirms it, and the hold ended at the invoke of the earlier one.
  One ok confirms it, and a second one has nothing to release.
  After a loss or a death one later ok likewise confirms that the hold ended there: many stores answer ok to whoever deletes what is gone.
- A line ` + "`lost`" + `, an extend that failed with ` + "`lost` or `not-held`" + `, and the ` + "`kill`, `poweroff` or `exit`" + ` of a client (a line of ` + "`nemesis`" + ` that names it) end what is certain: from there on the
  lock may be free, or not; after the extend from its ` + "`fail`" + ` on. A client that died in a pause did nothing since the pause began.
  A pause that no line ends goes on after a kill.
- A client that died by itself (an ` + "`" + `exit` + "`" + `, or an ` + "`" + `info` + "`" + ` with the error ` + "`" + `crashed` + "`" + `) may have died right after its last sign of life: its last line that is neither an ` + "`" + `invoke` + "`" + ` nor an ` + "`" + `info` + "`" + `.
  If it was killed, it died at the kill and not before, whatever such a line says later, until its client asks again after the last line of the kill: that is a new life.
- A loss (the line ` + "`lost`" + `, and an extend that failed with one of the two) that names a grant ends that grant only: no other permit, and nothing at all if the grant was released before.
  A reentrant lock is one entry in its store: there the loss of a grant that its process holds ends all that the process holds, at once; so does its client's death, and a failed release that is read as one that found it gone. It holds a grant if an ok, or a line
  ` + "`valid`" + `, has confirmed it, no release of it had an ok or no answer, and no earlier loss or death ended it.
  A loss that is reported while its process, or another one of its client, has a release of that open, which may be about a grant, may be about more: of a reentrant lock about all that the process holds, and without a name about all that its client may have.
  A loss that names no grant ends all that its process holds of the lock, with what it goes on with after an ` + "`info`" + `; if that is nothing, all that its client may have of it.
  Events of a grant come after its answer, so a loss ends no acquire that its own process has open. Where a reentrant lock loses its entry, another rule comes first: an acquire of the same process
  that has no answer by then may have been granted before and be gone with the entry. From the loss on it may be over, whatever its answer says;
  if its answer has the token of that entry, it rested on it, and ends at the instant at which all that rests on it ends.
- In all models but ` + "`mutex`" + `, who names a grant of another client says nothing of it: a loss, and a release or an extend without an ok, are left out; an ok is violated, because its client did not hold that grant.
- A try that was refused says nothing. With ` + "`--strict-try`" + ` it was refused because it could not be granted; one that failed with ` + "`" + `timeout` + "`" + ` or ` + "`" + `budget` + "`" + ` was not refused.
  A store may keep a lease for longer than its holder believes, so a lease that ran out may still be why.
- A history that can show nothing is unknown: one without an acquire that is ok (of a register, without a read or a write that is ok),
  and one in which nothing is violated and no grant has a token (models with tokens), no acquire that is ok has a line ` + "`queued`" + ` (` + "`fifo-mutex`" + `),
  or no grant says how long it is valid, or no line has a time (` + "`lease`" + `).
  A release or an extend that is ok, of a client that never held, is violated all the same (of ` + "`lease`" + ` only if a grant says how long it is valid; ` + "`mutex`" + ` knows no extend).
- Locks of different names have nothing to do with each other.

Each model has a direct judge, which takes O(n log n) and says what convicts. Below stands why it is right, and what it leaves to
[Porcupine](https://github.com/anishathalye/porcupine), a general search, which ` + "`--memory`" + ` bounds. ` + "`--timeout`" + ` bounds both: what is not decided by then is unknown.
Where operations that name no grant leave a choice, a history of at most 2000 lines is judged with one choice after the other: up to 256 for each lock, and no longer than two seconds.
A longer one is judged by the likeliest choice. Where that is violated, and what all choices have in common is not, it is unknown.

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

// sentences returns a text with a capital letter at the start, and without the last
// full stop.
func sentences(text string) string {
	text = strings.TrimRight(text, ". ")
	return strings.ToUpper(text[:1]) + text[1:]
}

// The page on models equals the text generated from their table.
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
