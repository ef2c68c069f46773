package checker

// Means returns a line about what a property demands of a lock.
func (p Property) Means() string { return meanings[p] }

var meanings = map[Property]string{
	Exclusion:      "no two clients hold the lock at the same time",
	LeaseExclusion: "the same, each grant counted only as long as its client believed in it",
	Ownership:      "no command issued for one grant removes, shortens or takes over another",
	Fencing:        "fencing tokens grow with every grant, and no two grants share one",
	Resource:       "every accepted write was computed from the value that it replaced",
	Answers:        "a no left nothing behind, a yes was granted, a release gave back",
	Liveness:       "nobody waits for longer than 3 T while nobody is granted the lock",
	Handover:       "while somebody waits, a lock that is free is granted within T/2",
	Fairness:       "nobody overtakes who is in the queue throughout, and nobody starves",
}
