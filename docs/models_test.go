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

judges by one model. If no model is named, ` + "`" + `owner-mutex` + "`" + ` judges a history without lockcheck's first line.

- An operation that ended with ` + "`" + `ok` + "`" + ` happened, one that ended with ` + "`" + `fail` + "`" + ` did not. One that ended with ` + "`" + `info` + "`" + `, or not at all, may have happened at any time
  after its invoke, or never.
- A release that failed had no effect, and its process keeps the hold. With ` + "`" + `--failed-release released` + "`" + `, a failed release may mean that the lock was gone.
  Then the hold may have ended at the invoke of that release, or later. A later release with an ok confirms this; a later extend with an ok shows only that the hold lasted until then.
- A grant belongs to the process whose acquire got it. If a process ends with an ` + "`" + `info` + "`" + `, the next new number of its client continues it: both are one process.
  If two processes of the client ended in this way, the new number continues the later one. Nothing continues the other, nor a process whose last operation did not end with an ` + "`" + `info` + "`" + `. A process that ended with an ` + "`" + `info` + "`" + ` is continued even if its client has crashed, exited or been killed since then.
- A release or an extend with a grant is about that grant, even if the line names another lock. The invoke of an acquire may already name the grant. An acquire that is ok without a grant gets the next free number as its name: name all grants or none. Two acquires with one name are an error, unless the first one failed before the second was invoked. A name that no acquire has given so far may be that of any
  acquire of its client, for the lock of the line, that has no name so far, also of an open one. Each line with such a name may be about another of them.
  Without a grant it is about the last grant that its process has got, in the order of the acquires, even if it has lost it. A process has got a grant if an ok of its acquire or of an extend, or a line ` + "`" + `valid` + "`" + `, has shown it. A grant counts as released once a release by any process of the client was ok, or ended without an answer.
  Without such a grant, it is about one of all grants that its client may have at the invoke, including acquires without an answer and open ones. The same holds while another process of the client is releasing that last grant, by a release without a grant. What such a release meant is one of the choices, and later operations go on from there. The history
  is valid if one choice makes it valid, and violated if every choice violates it; if that is not decided it is unknown. For an operation without an effect no choice is needed:
  an extend that failed, and a release that failed, unless ` + "`" + `--failed-release released` + "`" + ` is given.
- A release with an ok releases once. If an earlier release had no answer, the next ok confirms it, and the hold ended at the invoke of the earlier one.
  A further ok has nothing to release, and is violated.
  After a loss or a death one later ok likewise confirms that the hold ended there: many stores answer ok to a client that deletes a missing entry.
- A line ` + "`" + `valid` + "`" + ` shows that its grant was given before that line; in ` + "`" + `mutex` + "`" + ` it says nothing. It does not show when the hold ended (but see ` + "`" + `lease` + "`" + `).
  It is about the same grant as a release at that line would be; without a grant, it is about one that its process is releasing only if the process has got no other. It is about no open acquire of its own process, except by the name that the acquire's invoke gave. In a choice in which it is about an acquire that fails later, the line is about nothing.
- A line ` + "`" + `lost` + "`" + `, an extend that failed with ` + "`" + `lost` + "`" + ` or ` + "`" + `not-held` + "`" + `, and the ` + "`" + `kill` + "`" + `, ` + "`" + `poweroff` + "`" + ` or ` + "`" + `exit` + "`" + ` of a client (a line of ` + "`" + `nemesis` + "`" + ` that names it) make the hold uncertain: from there on the
  lock may be free or held; after the extend, from its ` + "`" + `fail` + "`" + ` on. A client that died in a pause did nothing since the pause began,
  but for what its lines with an ok show: a release or an extend with an ok in the pause shows that its hold lasted until then, unless it confirms an earlier end. So does an extend between the first and the last line of a kill; a release there may confirm that the kill had ended the hold.
  A pause without an end line is still in force after a kill.
- A client that died by itself (an ` + "`" + `exit` + "`" + `, or an answer with the error ` + "`" + `crashed` + "`" + `) may have died right after its last sign of life. That is its last line except ` + "`" + `invoke` + "`" + ` and ` + "`" + `info` + "`" + ` lines.
  A killed client died at the kill, even if such a line comes later. Its next request after the last line of the kill begins a new life, which ends no earlier than that kill.
- A loss is a line ` + "`" + `lost` + "`" + `, or an extend that failed with ` + "`" + `lost` + "`" + ` or ` + "`" + `not-held` + "`" + `. A loss with a grant ends only that grant; with a name that no acquire has given, any that may have it. It ends no other permit, and nothing if the grant was released before.
- A loss without a grant ends all that its process has got of the lock, and has neither released nor reported as lost, including grants that it continued after an ` + "`" + `info` + "`" + `. A report before the answer to the acquire does not count. (A failed extend is also about grants that it has reported as lost, and then ends nothing else.) If there are none, the loss ends all that its client may have of the lock.
- A reentrant lock is one entry in its store. The loss of a grant that its process holds ends all that the process holds, at once. So does its client's death, and a failed release that found the lock gone, also one of a grant whose acquire was still open.
  The loss of an acquire without an answer may do the same, because its process may have got it, and then all that it holds is the same entry.
  A process holds a grant if an ok, or a line ` + "`" + `valid` + "`" + `, has confirmed it, no release of it had an ok or no answer, and no earlier loss or death ended it. A loss that only may be about a grant, such as one during its acquire, does not count as an earlier loss.
  A grant that was lost with its entry is not lost a second time.
- Events of a grant come after its answer, so a line ` + "`" + `lost` + "`" + ` or ` + "`" + `valid` + "`" + ` is about no open acquire of its own process, unless the invoke of the acquire names the grant that the line names. A reentrant lock is the exception for losses: an acquire of the same process that has no answer when the entry is lost
  may have been granted before, and lost with the entry. From the loss on it may be over, whatever its answer says. If its answer has the token of that entry, it used the entry: it was granted before the entry was lost, and ends together with all other holds of the entry.
  The entry may also be that of a grant that the process may have, such as an acquire without an answer. If its process has nothing else of the lock, the loss is not about the open acquire.
- A line ` + "`" + `lost` + "`" + `, or the invoke of an extend that finds its grant lost, may come during an open release that may be about the same grant, of its process or of another one of its client. Then the loss may be about more: of a reentrant lock about all that the process holds,
  and without a grant about all that its client may have.
- In all models except ` + "`" + `mutex` + "`" + `, a line that names a grant of another client has no effect on that grant. lockcheck ignores such a loss, and such a release or extend without an ok.
  With an ok it is a violation, because its client did not hold that grant.
- A refused try shows nothing. With ` + "`" + `--strict-try` + "`" + ` a refusal means that the lock could not be granted; a try that failed with ` + "`" + `timeout` + "`" + ` or ` + "`" + `budget` + "`" + ` was not refused.
  A store may keep a lease for longer than its holder believes, so an expired lease may still be the reason of a refusal, until the next grant.
- The verdict is unknown if nothing is violated, and the history can show nothing, all of its locks together:
  - no acquire is ok (for a register: no read or write is ok);
  - no grant has a token (models with tokens); for fenced-register, no access has one;
  - no acquire that is ok has a line ` + "`" + `queued` + "`" + ` (` + "`" + `fifo-mutex` + "`" + `);
  - no grant says how long it is valid, or all times are 0 (` + "`" + `lease` + "`" + `; a ` + "`" + `valid_until` + "`" + ` of 0 says nothing). Only releases and extends are judged then.

  A release or an extend that is ok, of a client that never held, is violated even then (` + "`" + `mutex` + "`" + ` has no extend).
- Locks with different names are judged separately.

Each model has a direct judge, which takes O(n log n) and reports the witness. The sections below say why it is right, and which histories it leaves to
[Porcupine](https://github.com/anishathalye/porcupine), a general search. ` + "`" + `--memory` + "`" + ` bounds that search, and ` + "`" + `--timeout` + "`" + ` bounds both: any verdict that is not decided by then is unknown.
If operations without a grant leave a choice, lockcheck judges a history of at most 2,000 lines with one choice after the other: up to 256 for each lock, and for at most two seconds.
It judges a longer history by the likeliest choice only. If that choice is violated, the verdict is ` + "`" + `violated` + "`" + ` only if the operations common to all choices are violated, too; otherwise it is unknown.

## Shortest holds

Most models share this judge. It makes each hold as short as it can be. Every acquire takes effect at its completion, and every release (or what else may have ended the grant) at its invoke.
If any choice of instants is legal, this one is, because every rule of these models forbids more when more is held.

- A release without an answer takes effect at its invoke, too.
- An acquire without an answer only blocks others, so the judge leaves it out, unless its client later released or extended it with an ok. Then it has to take effect before that ok.
  If its release may come before the ok, too, it is enough that the lock is free at one instant before it.

One sweep over the shortened holds decides this, in O(n log n).

With ` + "`" + `--strict-try` + "`" + ` a refused try needs an instant at which the lock is held. Holds can be lengthened into their own acquire and release, and touch each other in a point at most.
So the try is violated only if it lies between a release that was over and an acquire that had not begun. If an acquire without an answer may have held the lock there, Porcupine decides.

## List of models

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
			needed := "required"
			if _, err := models.Parse(m.Name); err == nil {
				needed = "optional"
			}
			fmt.Fprintf(&b, "`--model %s=N`: N is its %s (%s).\n\n", m.Name, m.Param, needed)
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
