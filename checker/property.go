package checker

// Property is a rule that a lock may promise to keep.
type Property string

// The properties, in the order in which they are shown.
const (
	Exclusion      Property = "exclusion"
	LeaseExclusion Property = "lease-exclusion"
	Ownership      Property = "ownership"
	Fencing        Property = "fencing"
	Resource       Property = "resource"
	Answers        Property = "answers"
	Liveness       Property = "liveness"
	Handover       Property = "handover"
	Fairness       Property = "fairness"
)

// Properties lists all properties.
var Properties = [...]Property{Exclusion, LeaseExclusion, Ownership, Fencing, Resource, Answers, Liveness, Handover, Fairness}

// Means returns a line about what a property demands of a lock.
func (p Property) Means() string { return meanings[p] }

var meanings = map[Property]string{
	Exclusion:      "no two clients hold the lock at the same time",
	LeaseExclusion: "the same, and each grant counts only as long as its client believed in it",
	Ownership:      "no command for one grant removes, shortens or takes over another",
	Fencing:        "fencing tokens grow with every grant; only nested grants of one process may share one",
	Resource:       "every accepted write was computed from the value that it replaced",
	Answers:        "the lock's replies were true: a refusal left no entry, a grant made one, a release removed it",
	Liveness:       "no client waits longer than 3 T while no client is granted the lock",
	Handover:       "a free lock is granted within T/2 while a client waits",
	Fairness:       "no client overtakes another that waits in the queue all the time, and none starves",
}

// Outcome is the result of judging one property.
type Outcome uint8

// The outcomes. Unknown is never valid.
const (
	Valid Outcome = iota + 1
	Violated
	Unknown
	NA // does not apply; Verdict.Reason says why
)

// Outcomes lists all outcomes, the worst one first.
var Outcomes = [...]Outcome{Violated, Unknown, Valid, NA}

// Worst returns the worst outcome for which came is true, or NA.
func Worst(came func(Outcome) bool) Outcome {
	for _, out := range Outcomes {
		if came(out) {
			return out
		}
	}
	return NA
}

func (o Outcome) String() string {
	return [...]string{"?", "valid", "violated", "unknown", "n/a"}[o]
}

// Verdict is the result of judging one property, with the reason or the evidence.
type Verdict struct {
	Property Property
	Outcome  Outcome
	Reason   string   // of Unknown and NA
	Witness  *Witness // of Violated
	// Locks names the violated locks, if the history of a file has several locks; the
	// witness is about one of them.
	Locks []string
	// Porcupine is the second judge's opinion; "": it was not asked, or has no model
	// of the property.
	Porcupine Opinion
}

// Witness is the evidence of a violation: facts that no choice for the rest of the
// history can explain.
type Witness struct {
	Sentence string // one English sentence
	Entries  []int  // positions in History.Entries, in order
}

// Opinion is Porcupine's opinion of a verdict that is valid or violated.
type Opinion string

// The opinions.
const (
	Agreed    Opinion = "agreed"
	Undecided Opinion = "undecided" // its budget ended, or the history is too long
	Disagreed Opinion = "disagreed"
)
