package models

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// shrunk and strictTry refer to the proof that most models share, in docs/models.md.
const (
	shrunk    = "By [shortest holds](#shortest-holds). "
	strictTry = "Refused tries with --strict-try are judged as described there."
)

// strictSearch describes how refused tries are judged where no direct judge is known.
const strictSearch = "With --strict-try Porcupine decides."

// table is all models.
var table = [...]Model{
	{
		Name:   "owner-mutex",
		State:  "who holds the lock, if anybody does",
		Rules:  "It is granted when nobody holds it, not even the one who asks. Only who holds it releases or extends it.",
		Source: "Herlihy and Wing, Linearizability (1990); Jepsen's Hazelcast tests, owner-aware mutex",
		Exact:  shrunk + strictTry,
	},
	{
		Name:   "mutex",
		State:  "whether the lock is held",
		Rules:  "It is granted when it is free, and released when it is held, by whomever. A loss, a death, or with --failed-release released a failed release, may have freed it, once for each grant. One that came before the answer to its acquire, or if there is none, can end that grant only. If its grant may have ended before, a release with an ok may only confirm that, or free the lock.",
		Source: "Knossos, model mutex",
		Exact: "Acquires and releases have to alternate. If two are possible now, the one with the earlier completion is the more urgent. " +
			"The judge delays each operation until its completion. If the lock is then in the wrong state, it first runs an operation of the other kind: the one with the earliest completion, or one without an answer if there is no other. " +
			"Exchange: take any legal order that agrees so far. Where it runs another operation of the same kind first, the two can change places, because both had been invoked and the chosen one has the earlier completion. Where it runs more than this one does, the rest can be put off. So this order exists if any does. " +
			"Overlap of intervals is not exact here: a release may belong to either of two acquires. " +
			"A grant that may have ended before its acquire was answered can be given and taken back in one instant, so it is left out first, and what is violated without it is violated; where it makes a difference, Porcupine decides. " +
			"A release that may confirm an earlier one without an answer, a loss or a death may take effect from there on, and what is violated with that is violated; if it is valid with each as it stands, or with each in place of the first that it may confirm, it is valid; else Porcupine decides. " + strictSearch,
		kind: anonymous,
	},
	{
		Name:   "fenced-mutex",
		State:  "who holds the lock, and the largest token that was given out",
		Rules:  "As owner-mutex; the token of a grant, where it is known, is larger than all before it.",
		Source: "Kleppmann, How to do distributed locking (2016); Hazelcast FencedLock; Jepsen's Hazelcast tests, fenced mutex",
		Exact:  shrunk + "Shortened holds that do not overlap have one order, whatever instants are chosen, so tokens are compared along it; holds without an instant of their own have no token. " + strictTry,
		rule:   rule{tokens: true},
	},
	{
		Name:   "lease",
		State:  "who holds the lock, and until when",
		Rules:  "As owner-mutex, but a hold also ends when its time is over: the time for which the grant said that it is valid. An extend or a renewal (a line valid) sets a new time at its ok, later or earlier. So does the ok of an acquire, if it has a valid_until and an earlier line has shown its grant. A hold that had ended by its time begins anew with an extend or a renewal, at an instant at which the lock is free. So does one that had ended by a loss, a death or a release without an answer, but only with an extend: a renewal may be reported late. An uncertain end may also be the end of the hold that began anew. Only a release that is ok is final. An extend or a renewal without a time says only that its grant was given, and not released. With a time that is over it also says that the hold had ended by then. A grant that has no time left at its answer holds nothing. A grant that does not say how long it is valid is left out, such as an acquire without an answer, whether or not it was released.",
		Source: "Gray and Cheriton, Leases (1989); lockcheck's property lease-exclusion",
		Exact:  "Each stretch in which a holder had time left is a hold of its own, which ends at the first line at or after its time. If that line renews the hold, it goes on. " + shrunk + strictTry + " The reason of a refusal may also be a grant that does not say how long it is valid, a grant that had no time left at its answer, a grant that a line had shown before its answer, or an acquire without an answer, each of which, released or not, may have been over at any time.",
		rule:   rule{leases: true},
	},
	{
		Name:   "fifo-mutex",
		State:  "who holds the lock, and who waits, in order",
		Rules:  "As owner-mutex, and the first client in the queue gets the lock. A client takes its place in the queue between the invoke of the acquire and its line queued: the last such line, if it had to queue up anew, or its completion, if there is none. An acquire that failed or is indeterminate may have left the queue at any time, and may have queued up anew, whatever its client released later.",
		Source: "ZooKeeper's lock recipe; Lamport, Time, Clocks (1978), section on mutual exclusion",
		Exact: shrunk + "Shortened holds have one order; the places in the queue have to be taken in that order. Taking each as early as possible, at its invoke or just after the place before it, is best for all that follow, so it decides. " +
			"Where an indeterminate acquire is presupposed and has no instant of its own, the order is not forced, and Porcupine decides. " + strictTry,
		rule: rule{fifo: true},
	},
	{
		Name: "reentrant-mutex", Param: "limit",
		State:  "who holds the lock, and how many times",
		Rules:  "It is granted when no other process holds it (one that goes on for another is the same), and the one that asks does not hold it as often as the limit says. It is free when each grant was released, or the entry in the store was lost, with all that its process held.",
		Source: "Java's ReentrantLock (java.util.concurrent.locks); Jepsen's Hazelcast tests, reentrant mutex (limit 2)",
		Exact:  shrunk + strictSearch,
		rule:   rule{reentrant: true},
	},
	{
		Name: "reentrant-fenced-mutex", Param: "limit",
		State:  "who holds the lock, how many times, with which token, and the largest token that was given out",
		Rules:  "As reentrant-mutex; if nobody holds the lock, a grant has a larger token than all before it. If its process holds the lock, the grant has the same token.",
		Source: "Hazelcast FencedLock; Jepsen's Hazelcast tests, reentrant fenced mutex",
		Exact:  shrunk + "A process does one thing at a time, so it is certain whether it held when it asked again, and the order of the rest is forced: tokens are compared along it. Where it is not (it lost the lock, an acquire or a release of it has no answer, another process released a grant of it, or a failed release is read as one that found it gone) and the tokens do not fit, Porcupine decides. " + strictSearch,
		rule:   rule{reentrant: true, tokens: true},
	},
	{
		Name:   "rw-mutex",
		State:  "who reads, or who writes",
		Rules:  "An acquire that is shared is granted when nobody writes, any other one when nobody reads or writes, not even the one who asks.",
		Source: "Courtois, Heymans and Parnas, Concurrent Control with Readers and Writers (1971)",
		Exact:  shrunk + strictSearch,
		rule:   rule{shared: true},
	},
	{
		Name: "semaphore", Param: "permits",
		State:  "who holds how many permits",
		Rules:  "A permit is granted as long as there are any; only who holds one gives it back.",
		Source: "Dijkstra, Cooperating Sequential Processes (1965); Jepsen's Hazelcast tests, acquired permits",
		Exact:  shrunk + strictSearch,
		rule:   rule{permits: true},
	},
	{
		Name: "register", Param: "value at first",
		State:  "a value; N, if it is given, is the first one",
		Rules:  "A read returns what was written last. A read that does not say what it returned may have returned anything.",
		Source: "Herlihy and Wing, Linearizability (1990); Gibbons and Korach, Testing Shared Memories (1997)",
		Exact:  zones + "Where a value that was read was written more than once, or may have been there from the start as well, or a write does not say what it wrote, Porcupine decides.",
		kind:   register,
	},
	{
		Name: "cas-register", Param: "value at first",
		State:  "a value; N, if it is given, is the first one",
		Rules:  "As register; a cas that is ok replaced the value that it names. A cas that failed shows nothing.",
		Source: "Knossos, model cas-register; Gibbons and Korach, Testing Shared Memories (1997)",
		Exact:  zones + "A cas that is ok puts its value right behind the one that it replaced, so values form chains, each of which is in place in one stretch; the same holds for chains. Where a value that was read or replaced was written more than once, or may have been there from the start as well, or a write does not say what it wrote, Porcupine decides.",
		kind:   register, rule: rule{cas: true},
	},
	{
		Name:   "fenced-register",
		State:  "a value, and the largest token that was accepted",
		Rules:  "As register; an access is accepted if its token is not smaller than any accepted before, and refused as stale (a fail with the error stale-token) if it is. Its token is in its answer, or in its invoke, or it is that of the grant that it names; if it names none, that of the last grant that its process has got and that is not released. If another process of its client releases a grant without a name, or by a name that no acquire has given so far, it is not certain which that is: from there on such an access has no token, until that release fails. An access without any token may be accepted or refused at any time, and is no reason to refuse another. Any other fail shows nothing.",
		Source: "Kleppmann, How to do distributed locking (2016), with the storage that checks tokens",
		Exact: "Accepted accesses follow their tokens. Where those of each token do not overlap (one holder does one thing at a time) their order is forced: each gets the earliest instant that its invoke and the one before it allow, which is best for all that follow and for refusals, which need a larger token before them. " +
			"Otherwise, or where an access has no token, or only an indeterminate one could explain a refusal or a value, Porcupine decides.",
		kind: register, rule: rule{fenced: true},
	},
}

// zones is the proof for registers.
const zones = "Each value with one writer is in place in one stretch of time, in which its write and all its reads must have their instants, the write first. " +
	"Let f be the first completion among them, and s the last invoke. If f comes before s, the value must be in place from f to s, whatever is chosen; else any instant from s to f has room for all of them. " +
	"A value at first that is known is a write before everything else. So there is a legal order exactly if no read was over before its write was invoked, no two stretches from f to s overlap, and no value has all of its room, s to f, inside such a stretch. " +
	"An indeterminate write counts if its value was seen, and is best left out if not. "

// All returns the models.
func All() []Model { return append([]Model(nil), table[:]...) }

// Parse finds a model by its name, with its number if it has one: "owner-mutex",
// "semaphore=3". It returns an error if there is no such model or the number is
// wrong.
func Parse(text string) (Model, error) {
	name, number, given := strings.Cut(text, "=")
	for _, m := range table {
		if m.Name != name {
			continue
		}
		switch {
		case given && m.Param == "":
			return Model{}, fmt.Errorf("the model %s has no number: leave out =%s", name, number)
		case given && m.kind == register:
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				return Model{}, fmt.Errorf("the number of the model %s, its %s, is %q: want a 64-bit integer", name, m.Param, number)
			}
			m.First = history.Some(n)
		case given:
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || n > most {
				return Model{}, fmt.Errorf("the number of the model %s, its %s, is %q: want an integer from 1 to %d", name, m.Param, number, most)
			}
			m.N = n
		case m.rule.permits:
			return Model{}, fmt.Errorf("the model %s needs its number of %s: %s=3, for example", name, m.Param, name)
		}
		return m, nil
	}
	return Model{}, fmt.Errorf("there is no model %q", name)
}

// most is the largest number that a model may have.
const most = 1_000_000
