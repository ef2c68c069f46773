package checker

import "slices"

// A Hazard is a situation that could have broken a promise. A run that did not reach
// it proves nothing about that promise.
type Hazard struct {
	Reached string // the situation, in words
	Missing string // the missing situation, in words
	came    func(*exposure) bool
}

// hazard returns the hazard that a certain thing happened.
func hazard(what string, came func(*exposure) bool) *Hazard {
	return &Hazard{"a " + what, "no " + what, came}
}

// The hazards that faults share.
var (
	contention = &Hazard{
		"the lock was asked for while another client held it", "nobody asked for the lock while another client held it",
		(*exposure).contended,
	}
	rivals = &Hazard{
		"two clients waited for the lock at the same time", "no two clients waited for the lock at the same time",
		(*exposure).rivals,
	}
	touch = &Hazard{
		"the fault hit a client that held or waited", "the fault hit nobody who held or waited",
		(*exposure).touched,
	}
	leaseEnds = hazard("holder outlasted its lease while another client wanted the lock", (*exposure).outlasted)
	lateDeed  = &Hazard{
		"a client went on past its lease and another client's grant, or kept the lock past its lease while another waited",
		"no client went on past its lease and another client's grant",
		(*exposure).wentOn,
	}
	death = &Hazard{
		"a client died while it held or acquired, and another wanted the lock", "no client died while it held or acquired and another wanted the lock",
		(*exposure).diedWanted,
	}
	doubt = &Hazard{
		"the fault hit an acquire, release or extend, or left it in doubt", "the fault hit no acquire, release or extend, and left none in doubt",
		(*exposure).disturbed,
	}
	contestedDoubt = &Hazard{
		"the fault hit an operation on the lock, or a lease ran out, while another client held or waited",
		"the fault hit no operation on the lock, and no lease ran out, while another client held or waited",
		(*exposure).disturbedContested,
	}
	afterwards = hazard("client wanted the lock after the fault", (*exposure).wantedAfterwards)
	again      = hazard("client wanted the lock after the last fault", (*exposure).wantedAgain)
	queue      = &Hazard{
		"the fault hit a client that waited beside another", "the fault hit no client that waited beside another",
		(*exposure).rivals,
	}
	sessionEnds = &Hazard{
		"the session of a holder was closed", "no session of a holder was closed",
		(*exposure).holderStruck,
	}
	eviction  = hazard("server evicted the entry of a lock that was held", (*exposure).evicted)
	entryGone = &Hazard{
		"an operator removed the entry of a lock that was held", "no operator removed the entry of a lock that was held",
		func(e *exposure) bool { return e.tampered(removed) },
	}
	entryOverwritten = &Hazard{
		"an operator changed the entry of a lock that was held", "no operator changed the entry of a lock that was held",
		func(e *exposure) bool { return e.tampered(takenOver, changed) },
	}
	masterGoes    = hazard("master was replaced while the lock was held or contested", (*exposure).replaced)
	serverStands  = hazard("server stood still while the lock was held or contested", func(e *exposure) bool { return e.held() || e.disturbedContested() })
	serverReturns = hazard("server restarted while the lock was held or contested", func(e *exposure) bool { return e.inPlace() || e.disturbedContested() })
	serverForgets = hazard("server with the entry of a holder restarted and lost data", (*exposure).inPlace)
	doubtOrLoss   = &Hazard{
		"the fault hit an operation on the lock, or a server with the entry of a holder", "the fault hit no operation on the lock, and no server with the entry of a holder",
		func(e *exposure) bool { return e.disturbed() || e.inPlace() },
	}
	serversApart = &Hazard{
		"a cut-off server was replaced while the lock was held or contested, or a lease ran out", "no cut-off server was replaced while the lock was held or contested, and no lease ran out",
		func(e *exposure) bool { return e.replaced() || e.outlasted() },
	}
	clockWrong = hazard("clock was wrong while the lock was held", (*exposure).held)
	clockRate  = hazard("clock ran fast or slow while the lock was held", (*exposure).held)
)

// hazardTable names the hazards of kinds of faults for some properties. The first
// line that fits a pair counts. A pair that no line fits needs a fault that touched a
// client.
var hazardTable = []struct {
	faults     []string
	properties []Property
	hazard     *Hazard
}{
	{[]string{"pause", "hang"}, []Property{Exclusion, LeaseExclusion}, leaseEnds},
	{[]string{"pause", "hang"}, []Property{Ownership, Resource, Fencing}, lateDeed},
	{[]string{"kill", "poweroff"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Liveness, Handover}, death},
	{[]string{"session-expiry"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, sessionEnds},
	{[]string{"server-pause"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, serverStands},
	{[]string{"restart"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, serverReturns},
	{[]string{"restart-lost"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, serverForgets},
	{[]string{"failover"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, masterGoes},
	{[]string{"partition-servers"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, serversApart},
	{[]string{"evict"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, eviction},
	{[]string{"entry-lost"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, entryGone},
	{[]string{"entry-changed"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, entryOverwritten},
	{[]string{"skew", "jump", "server-skew", "server-jump"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, clockWrong},
	{[]string{"rate", "server-rate"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource, Fencing}, clockRate},
	{[]string{"partition", "partition-oneway", "delay", "drop-reply", "kill-connection"}, []Property{Exclusion, LeaseExclusion, Ownership, Resource}, contestedDoubt},
	{[]string{"partition", "partition-oneway", "delay", "drop-reply", "kill-connection"}, []Property{Answers}, doubt},
	{[]string{"server-pause", "restart", "failover"}, []Property{Answers}, doubt},
	{[]string{"restart-lost"}, []Property{Answers}, doubtOrLoss},
	{nil, []Property{Liveness}, again},
	{nil, []Property{Handover}, afterwards},
	{nil, []Property{Fairness}, queue},
}

// HazardOf returns the situation that a run under a fault must reach to prove
// anything about a property. fault is the name of a kind of faults; "" and "none"
// mean no fault.
func HazardOf(fault string, p Property) *Hazard {
	if fault == "" || fault == NoFault {
		if p == Fairness {
			return rivals
		}
		return contention
	}
	for i := range hazardTable {
		line := &hazardTable[i]
		if (line.faults == nil || slices.Contains(line.faults, fault)) && slices.Contains(line.properties, p) {
			return line.hazard
		}
	}
	return touch
}

// NoFault is used in place of a fault's name for runs without faults.
const NoFault = "none"

// HazardSet is the set of properties that a history could have broken, by kind of
// fault and for runs without one: one bit for each of Properties.
type HazardSet [undisturbed + 1]uint16

// Reached reports whether the hazard of a property under a fault was reached.
func (s *HazardSet) Reached(fault string, p Property) bool {
	k := undisturbed
	if fault != "" && fault != NoFault {
		k = kindOf(fault)
	}
	return s[k]&(1<<slices.Index(Properties[:], p)) != 0
}

// hazards returns the hazards that were reached under the faults that struck.
func (t *timeline) hazards(c *Counts) (set HazardSet) {
	if c[FaultInjected] == 0 {
		set[undisturbed] = t.exposedTo(undisturbed, NoFault, c)
		return set
	}
	for k := range undisturbed {
		if slices.ContainsFunc(t.faults, func(f fault) bool { return f.kind == k && k != stall }) {
			set[k] = t.exposedTo(k, kinds[k].Name, c)
		}
	}
	return set
}

func (t *timeline) exposedTo(k kind, name string, c *Counts) (bits uint16) {
	e := exposure{timeline: t, kind: k, counts: c}
	var known [len(Properties)]*Hazard
	for i, p := range Properties {
		h := HazardOf(name, p)
		known[i] = h
		before := slices.Index(known[:], h)
		if before < i && bits&(1<<before) != 0 || before == i && h.came(&e) {
			bits |= 1 << i
		}
	}
	return bits
}
