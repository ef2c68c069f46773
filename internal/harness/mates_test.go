package harness

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/env"
)

// wholeEnvironment is an environment with every fault on clients.
type wholeEnvironment struct{ *fakeEnvironment }

func (p wholeEnvironment) Hang(c string) error   { return p.note("hang " + c) }
func (p wholeEnvironment) Unhang(c string) error { return p.note("unhang " + c) }
func (p wholeEnvironment) Impair(_ int, im faults.Impairment) error {
	return p.note("impair " + im.Client)
}
func (p wholeEnvironment) Restore(int) (int, error)              { return 1, p.note("restore") }
func (p wholeEnvironment) Jump(c string, by time.Duration) error { return p.note("jump " + c) }

// A fault on a process strikes all its clients, with one call to the environment.
func TestAFaultOnAProcessStrikesAllItsClients(t *testing.T) {
	const ms = time.Millisecond
	lock, _ := catalogue.FindLock("redis-set-lua")
	lock.Together = 2
	for _, tt := range []struct {
		name   string
		faults []faults.Injection
		lines  []string
		done   []string
	}{
		{
			"two pauses of one process",
			[]faults.Injection{
				{Fault: "pause", On: []string{"c1"}, At: 1 * ms, For: 20 * ms},
				{Fault: "pause", On: []string{"c2"}, At: 5 * ms, For: 5 * ms},
			},
			[]string{"pause c1 c2", "pause c1 c2", "pause-end c1 c2", "pause-end c1 c2"},
			[]string{"pause c1", "resume c1"},
		},
		{
			// The first stops the client, and only the end of the last resumes it.
			"two pauses of one client",
			[]faults.Injection{
				{Fault: "pause", On: []string{"c3"}, At: 1 * ms, For: 20 * ms},
				{Fault: "pause", On: []string{"c3"}, At: 5 * ms, For: 5 * ms},
			},
			[]string{"pause c3", "pause c3", "pause-end c3", "pause-end c3"},
			[]string{"pause c3", "resume c3"},
		},
		{
			"a process with one client",
			[]faults.Injection{{Fault: "pause", On: []string{"c3"}, At: 1 * ms, For: 5 * ms}},
			[]string{"pause c3", "pause-end c3"},
			[]string{"pause c3", "resume c3"},
		},
		{
			"a task",
			[]faults.Injection{{Fault: "hang", On: []string{"c2"}, At: 1 * ms, For: 5 * ms}},
			[]string{"hang c2", "hang-end c2"},
			[]string{"hang c2", "unhang c2"},
		},
		{
			"a clock",
			[]faults.Injection{{Fault: "jump", On: []string{"c2"}, At: 1 * ms, Amount: time.Second}},
			[]string{"jump c1 c2"},
			[]string{"jump c2"},
		},
		{
			"a link",
			[]faults.Injection{{Fault: "partition", On: []string{"c2", "redis-1"}, At: 1 * ms, For: 5 * ms}},
			[]string{"partition c1 c2 redis-1", "partition-end c1 c2 redis-1"},
			[]string{"impair c2", "restore"},
		},
		{
			"a kill",
			[]faults.Injection{{Fault: "kill", On: []string{"c2"}, At: 1 * ms}},
			[]string{"kill c1 c2"},
			[]string{"kill c2"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := randomPlan("redis-set-lua", "pause", 1)
			p.Use(&lock)
			p.Acquires, p.Faults = 3, tt.faults
			environment := wholeEnvironment{&fakeEnvironment{start: time.Now(), client: fakeClient{before: func(string) { time.Sleep(20 * ms) }}}}
			h, err := Run(p, func(env.Config, env.Observer) (env.Environment, error) { return environment, nil }, nil, nil)
			must(t, err)
			var lines, dead []string
			for _, e := range h.Entries {
				switch {
				case e.Process.Name == history.Nemesis && e.F != history.Ended && e.F != history.Stall && !strings.HasSuffix(e.F, history.DoneSuffix):
					lines = append(lines, strings.Join(append([]string{e.F}, e.On...), " "))
					if e.F == "kill" {
						dead = e.On
					}
				case e.Type == history.OK && slices.Contains(dead, e.Client):
					t.Errorf("%s does %s after its death", e.Client, e.F)
				}
			}
			for i := range environment.done {
				// Either pause may begin first and end last.
				environment.done[i] = strings.NewReplacer("pause c2", "pause c1", "resume c2", "resume c1").Replace(environment.done[i])
			}
			if !slices.Equal(lines, tt.lines) || !slices.Equal(environment.done, tt.done) {
				t.Errorf("lines %q and calls %q, want %q and %q", lines, environment.done, tt.lines, tt.done)
			}
		})
	}
}
