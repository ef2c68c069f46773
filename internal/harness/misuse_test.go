package harness

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/workloads"
)

// completed returns the completed operations of a client, with their grants.
func completed(h *history.History, client string) (list []string) {
	for _, e := range h.Entries {
		if e.Client != client || e.Type == history.Invoke {
			continue
		}
		line := fmt.Sprintf("%s %s", e.F, e.Type)
		if e.Grant != 0 {
			line += fmt.Sprintf(" %d", e.Grant)
		}
		list = append(list, line)
	}
	return list
}

func scriptedPlan(lock, options string, scripts ...workloads.Script) *Plan {
	p := &Plan{Lock: lock, On: "sim", Seed: 1, Lease: 10 * time.Second, Scripts: scripts}
	p.Options, _ = catalogue.ParseOptions(options)
	for _, s := range scripts {
		p.Clients = append(p.Clients, s.Client)
	}
	return p
}

// In the published finally block a refused client releases, too, without a grant.
func TestARefusedClientReleasesByName(t *testing.T) {
	const second = time.Second
	j, _, err := Simulate(sim.Simulator, scriptedPlan("redis-set-del", "",
		workloads.Script{Client: "c1", Steps: []workloads.Step{
			{Do: history.Acquire, Limit: second}, {At: 5 * second}, {Do: workloads.ReleaseName},
		}},
		workloads.Script{Client: "c2", Steps: []workloads.Step{
			{Do: history.Acquire, At: second, Limit: second}, {Do: workloads.ReleaseName},
		}},
		workloads.Script{Client: "c3", Steps: []workloads.Step{
			{Do: history.Acquire, At: 3 * second, Limit: second}, {Do: history.Release},
		}},
	))
	must(t, err)
	for client, want := range map[string][]string{
		"c1": {"acquire ok 1", "release fail 1"},
		"c2": {"acquire fail", "release ok"},
		"c3": {"acquire ok 2", "release ok 2"},
	} {
		if got := completed(j.History, client); !slices.Equal(got, want) {
			t.Errorf("%s did %q, want %q", client, got, want)
		}
	}
	for p, want := range map[checker.Property]checker.Outcome{
		checker.Ownership: checker.Violated, checker.Exclusion: checker.Violated, checker.Answers: checker.Valid,
	} {
		if got := j.Outcome(p); got != want {
			t.Errorf("%s is %s, want %s", p, got, want)
		}
	}
}

// A reentrant lock without a counter is free after the release of the inner grant.
func TestNestedGrantsAreReleasedFromWithin(t *testing.T) {
	const second = time.Second
	acquire, release := workloads.Step{Do: history.Acquire, Limit: 2 * second}, workloads.Step{Do: history.Release, Wait: second}
	read, write := workloads.Step{Do: history.Read}, workloads.Step{Do: history.Write}
	j, _, err := Simulate(sim.Simulator, scriptedPlan("redis-set-lua", "reuse-id,claim",
		workloads.Script{Client: "c1", Steps: []workloads.Step{acquire, read, acquire, read, write, release, read, {Do: history.Write, Wait: second}, release}},
		workloads.Script{Client: "c2", Steps: []workloads.Step{{At: second / 2}, acquire, release}},
	))
	must(t, err)
	want := []string{
		"acquire ok 1", "read ok 1", "acquire ok 2", "read ok 2", "write ok 2", "release ok 2", "read ok 1", "write ok 1", "release fail 1",
	}
	if got := completed(j.History, "c1"); !slices.Equal(got, want) {
		t.Errorf("c1 did %q, want %q", got, want)
	}
	if got := j.Outcome(checker.Exclusion); got != checker.Violated {
		t.Errorf("exclusion is %s", got)
	}
}

func TestMisusesAreFound(t *testing.T) {
	for _, tt := range []struct {
		workload, lock, options string
		violated                checker.Property
	}{
		{"finally", "redis-set-del", "", checker.Ownership},
		{"nested", "redis-set-lua", "reuse-id,claim", checker.Exclusion},
	} {
		found := 0
		for seed := range uint64(20) {
			p := randomPlan(tt.lock, "pause", seed)
			p.Faults, p.Workload = nil, tt.workload
			p.Options, _ = catalogue.ParseOptions(tt.options)
			must(t, p.validate())
			j := simulate(t, p)
			must(t, history.Check(j.History))
			if j.History.Header.Workload != tt.workload {
				t.Errorf("the header has the workload %q", j.History.Header.Workload)
			}
			if j.Outcome(tt.violated) == checker.Violated {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s of %s: %s was never violated", tt.workload, tt.lock, tt.violated)
		}
	}
}

func TestWorkloadsThatDoNotFit(t *testing.T) {
	for name, spoil := range map[string]func(*Plan){
		"it is unknown":                     func(p *Plan) { p.Workload = "twice" },
		"the lock releases nothing by name": func(p *Plan) { p.Workload = "finally" },
		"the lock goes through the section": func(p *Plan) { p.Lock, p.Workload = "zk-predecessor", "nested" },
		"clients have scripts":              func(p *Plan) { p.Workload, p.Scripts = "nested", []workloads.Script{{Client: "c1"}} },
	} {
		p := randomPlan("redis-set-lua", "pause", 1)
		p.Faults = nil
		must(t, p.validate())
		spoil(p)
		if p.Scripts != nil {
			p.Clients = []string{"c1"}
		}
		if err := p.validate(); err == nil {
			t.Errorf("%s: the plan is accepted", name)
		}
	}
}
