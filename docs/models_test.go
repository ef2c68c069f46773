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

A model describes a correct lock, or a value that a lock guards: its state, and the operations that it allows. A history is valid by a model if every
operation can be given an instant between its invoke and its completion at which it took effect, so that the model allows them in that order
(linearizability). Only the order of the lines counts, except in models with times.

    lockcheck check --model semaphore=2 history.edn

judges by one model. If no model is named, ` + "`owner-mutex`" + ` judges a history without lockcheck's first line.

- An operation that ended with ` + "`ok`" + ` happened, one that ended with ` + "`fail`" + ` did not. One that ended with ` + "`info`" + `, or not at all, may have happened at any time
  after its invoke, or never.
- A release that failed had no effect, and its process keeps the hold. With ` + "`--failed-release released`" + ` it may have found that the lock was gone: its hold may have ended
  at the invoke of that release or later. A later ok of a release confirms that; a later ok of an extend proves that it still held.
- A grant belongs to the process whose acquire got it. After an ` + "`info`" + ` a new number of the same client continues the process that ended with it: from then on both are one process.
  If two processes ended so before that, the new number continues the later one, and no process continues the other.
- A release or an extend with a grant is about that grant; the invoke of an acquire may already name the grant. Without a grant it is about the last grant that its process
  got and has not released. If there is none, it is about any one grant that its client may have, including acquires without an answer and open ones. The history
  is valid if one choice makes it valid, and violated if every choice violates it; if that is not decided it is unknown. An operation without an effect leaves no choice:
  an extend that failed, and a release that failed, unless ` + "`--failed-release released`" + ` is given.
- A release with an ok releases once. If an earlier one had no answer, the later ok confirms it, and the hold ended at the invoke of the earlier one.
  One ok confirms it, and a second one has nothing to release.
  After a loss or a death one later ok likewise confirms that the hold ended there: many stores answer ok to a client that deletes a missing entry.
- A line ` + "`lost`" + `, an extend that failed with ` + "`lost` or `not-held`" + `, and the ` + "`kill`, `poweroff` or `exit`" + ` of a client (a line of ` + "`nemesis`" + ` that names it) make the hold uncertain: from there on the
  lock may be free or held; after the extend, from its ` + "`fail`" + ` on. A client that died in a pause did nothing since the pause began.
  A pause without an end line goes on after a kill.
- A client that died by itself (an ` + "`" + `exit` + "`" + `, or an ` + "`" + `info` + "`" + ` with the error ` + "`" + `crashed` + "`" + `) may have died right after its last sign of life: its last line that is neither an ` + "`" + `invoke` + "`" + ` nor an ` + "`" + `info` + "`" + `.
  If it was killed, it died at the kill and not before, whatever such a line says later, until its client asks again after the last line of the kill: that is a new life.
- A loss (the line ` + "`lost`" + `, and an extend that failed with one of the two) that names a grant ends only that grant: it ends no other permit, and nothing if the grant was released before.
  A reentrant lock is one entry in its store: there the loss of a grant that its process holds ends all that the process holds, at once; so does its client's death, and a failed release that is read as one that found it gone. It holds a grant if an ok, or a line
  ` + "`valid`" + `, has confirmed it, no release of it had an ok or no answer, and no earlier loss or death ended it.
  A loss may be reported while its process, or another one of its client, has an open release that may be about the grant. Then the loss may be about more: of a reentrant lock about all that the process holds, and without a name about all that its client may have.
  A loss without a grant ends all that its process holds of the lock, including holds that it continued after an ` + "`info`" + `. If there are none, it ends all that its client may have of the lock.
  Events of a grant come after its answer, so a loss ends no open acquire of its own process. If a reentrant lock loses its entry, another rule comes first: an acquire of the same process
  that has no answer by then may have been granted before, and lost with the entry. From the loss on it may be over, whatever its answer says.
  If its answer has the token of that entry, it used the entry, and ends at the same instant as all other holds of the entry.
- In all models except ` + "`mutex`" + `, a line that names a grant of another client has no effect on that grant: a loss, and a release or an extend without an ok, are left out; an ok is violated, because its client did not hold that grant.
- A refused try shows nothing. With ` + "`--strict-try`" + ` a refusal means that the lock could not be granted; a try that failed with ` + "`" + `timeout` + "`" + ` or ` + "`" + `budget` + "`" + ` was not refused.
  A store may keep a lease for longer than its holder believes, so an expired lease may still be the reason of a refusal.
- A history that can show nothing is unknown. It has no acquire that is ok (for a register, no read or write that is ok).
  Or nothing is violated and no grant has a token (models with tokens), no acquire that is ok has a line ` + "`queued`" + ` (` + "`fifo-mutex`" + `),
  no grant says how long it is valid, or no line has a time (` + "`lease`" + `).
  But even then a release or an extend that is ok, of a client that never held, is violated (for ` + "`lease`" + ` only if a grant says how long it is valid; ` + "`mutex`" + ` has no extend).
- Locks with different names are judged separately.

Each model has a direct judge, which takes O(n log n) and reports the witness. The sections below say why it is right, and which histories it leaves to
[Porcupine](https://github.com/anishathalye/porcupine), a general search. ` + "`--memory`" + ` bounds that search, and ` + "`--timeout`" + ` bounds both: any verdict that is not decided by then is unknown.
If operations without a grant leave a choice, lockcheck judges a history of at most 2,000 lines with one choice after the other: up to 256 for each lock, and for at most two seconds.
It judges a longer one by the likeliest choice. If that choice is violated, but the operations that all choices have in common are not, the verdict is unknown.

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
