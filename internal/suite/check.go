package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lockcheck/lockcheck/catalogue"
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/workloads"
)

// beyond notes what is wrong at a node, and no schema can say. kind names it.
func (r *reader) beyond(kind string, n *yaml.Node, words string, args ...any) {
	r.wrong(n, words, args...)
	r.problems[len(r.problems)-1].beyond = kind
}

// check is one entry whose values are what they can be, each by itself; a value
// that is not has been noted, and is empty. What they cannot be together is
// noted here.
type check struct {
	*reader
	entry *Entry
	at    map[string]*yaml.Node // the values, by key
	node  *yaml.Node            // the entry
}

// all goes through everything that can be wrong.
func (c *check) all() {
	c.whose()
	c.strategy()
	kinds := c.faults()
	c.several(kinds)
	does := c.workloads()
	if lock, ok := catalogue.FindLock(c.entry.Lock); ok && c.entry.Worker == "" {
		c.lock(&lock, does)
	}
	c.alone()
	c.promises()
	c.strikes(kinds)
}

func (c *check) has(key string) bool { return c.at[key] != nil }

// named tells whether it is known what the entry is called, and where it runs.
func (c *check) named() bool {
	return c.has("lock") != c.has("worker") && (c.entry.Called() != "worker" || c.entry.Worker != "") &&
		(!c.has("on") || c.entry.On != "") && (!c.has("name") || c.entry.Name != "")
}

// apart sees to it that the entry has a directory of its own: taken are those before
// it, by what they are called and where they run, in small letters, as on some systems
// the case of letters makes no other directory.
func (c *check) apart(taken map[string]*Entry) {
	if !c.named() {
		return
	}
	what, at := called(c.entry), cmp.Or(c.at["name"], c.node)
	dir := strings.ToLower(what)
	switch before := taken[dir]; {
	case before == nil:
		taken[dir] = c.entry
	case called(before) == what:
		c.beyond("two entries of one name", at, "the entry in line %d is called %s, too: give one of them another name", before.Line, what)
	default:
		c.beyond("two entries of one name", at, "%s and %s, in line %d, have one directory where the case of letters does not count: give one of them another name", what, called(before), before.Line)
	}
}

func called(e *Entry) string { return e.Called() + " on " + e.Place() }

// whose is one lock, and a worker's is a stranger's.
func (c *check) whose() {
	switch {
	case c.has("lock") && c.has("worker"):
		later := c.at["worker"]
		if c.at["lock"].Line > later.Line {
			later = c.at["lock"]
		}
		c.wrong(later, "an entry has lock or worker, not both: a worker brings its own")
	case !c.has("lock") && !c.has("worker"):
		c.wrong(c.node, "the entry has no lock: write lock: NAME (see lockcheck list locks), or worker: COMMAND")
	case c.has("worker"):
		if c.entry.Worker != "" {
			c.behind(c.at["worker"], func(n *yaml.Node) {
				if _, err := Command(c.entry.Worker); err != nil {
					c.beyond("a command that is none", n, "%v", err)
				}
			})
		}
		if c.entry.On == "sim" {
			c.wrong(c.at["on"], "a worker runs on docker only: a program of its own has no virtual time")
		}
		if c.has("options") {
			c.wrong(c.at["options"], "options are for locks that are built in: give those of a worker in its command")
		}
		if slices.Contains(names.Locks(), c.entry.Name) {
			c.wrong(c.at["name"], "%s is a lock that is built in: call the worker something else", c.entry.Name)
		}
	case c.entry.Lock != "" && c.entry.Name != c.entry.Lock && slices.Contains(names.Locks(), c.entry.Name):
		c.wrong(c.at["name"], "%s is another lock that is built in, and this is %s: call the entry something else", c.entry.Name, c.entry.Lock)
	}
}

// strategy: who decides how long a message takes, and how many orders are drawn.
func (c *check) strategy() {
	pct := c.entry.Strategy == harness.PCT
	if pct && c.entry.Place() == "docker" {
		c.wrong(c.at["strategy"], "pct decides how long each message takes, and on docker nobody does: leave it out")
	}
	if c.has("depth") && !pct && (!c.has("strategy") || c.entry.Strategy != "") {
		c.wrong(c.at["depth"], "depth is of strategy: pct only")
	}
}

// faults are those that the entry names; none among them is a cell of its own.
func (c *check) faults() []faults.Fault {
	some := slices.DeleteFunc(slices.Clone(c.entry.Faults), func(name string) bool { return name == names.None })
	return chosen(c, "faults", some, names.ChooseFaults)
}

// workloads are those that the entry names.
func (c *check) workloads() []workloads.Workload {
	return chosen(c, "workloads", c.entry.Workloads, names.ChooseWorkloads)
}

// chosen is what a list chooses; what is wrong with it is noted.
func chosen[T any](c *check, key string, list []string, choose func([]string) ([]T, []names.Wrong)) []T {
	if len(list) == 0 {
		return nil
	}
	some, wrong := choose(list)
	c.behind(c.at[key], func(n *yaml.Node) {
		for _, w := range wrong {
			c.beyond("a list that takes out what is not in it", itemOf(n, list, w.Item), "%v", w.Err)
		}
	})
	return some
}

// itemOf is the node of an item of a list; of all of it where there is none, or
// where it is written elsewhere.
func itemOf(n *yaml.Node, list []string, i int) *yaml.Node {
	if n.Kind == yaml.SequenceNode && i >= 0 {
		for _, it := range n.Content {
			if meant(it).Value == list[i] {
				return it
			}
		}
	}
	return n
}

// several faults in a run need something that goes wrong, and of several kinds
// several kinds.
func (c *check) several(kinds []faults.Fault) {
	if slices.Equal(c.entry.Faults, []string{names.None}) {
		for _, key := range []string{"faults-per-run", "mix"} {
			if c.has(key) {
				c.wrong(c.at[key], "%s says how faults come, and faults: none says that none does: leave out one of them", key)
			}
		}
	} else if c.entry.Mix && len(kinds) == 1 {
		c.beyond("mix of one kind", c.at["mix"], "mix needs faults of several kinds, and %s is one", kinds[0].Name)
	}
}

// lock holds what is asked of a lock that is built in to what it can do.
func (c *check) lock(lock *catalogue.Lock, does []workloads.Workload) {
	for i, o := range c.entry.Options {
		if !slices.Contains(lock.Options, o) {
			c.beyond("an option that the lock does not have", itemOf(c.at["options"], c.entry.Options, i), "%s has no option %s; %s", lock.ID, o, has(lock))
		}
	}
	possible(c, "workloads", "a workload that the lock cannot be used in", c.entry.Workloads, does,
		func(w workloads.Workload) (string, error) { return w.Name, lock.Takes(w) })
}

// alone: what one client cannot break would hold whatever the lock is.
func (c *check) alone() {
	if c.entry.Clients != 1 {
		return
	}
	for i, p := range c.entry.Promises {
		if slices.Contains(checker.Contested, p) {
			c.wrong(itemOf(c.at["promises"], c.entry.Promises.Strings(), i), "with clients: 1 nobody can break %s: give it more clients, or leave it out", p)
		}
	}
}

// promises holds each promise to what can be judged of the lock there: what
// cannot would leave all of it open, after all of its runs.
func (c *check) promises() {
	if _, ours := catalogue.FindLock(c.entry.Lock); !ours && c.entry.Worker == "" || !c.named() {
		return
	}
	options, err := catalogue.ParseOptions(strings.Join(c.entry.Options, ","))
	tokens := err != nil || options.Tokens() || c.entry.Fencing != "" // a wrong option has been noted
	for i, p := range c.entry.Promises {
		if err := catalogue.Judged(c.entry.Lock, p, c.entry.Place(), tokens); err != nil {
			c.beyond("a promise that is never judged", itemOf(c.at["promises"], c.entry.Promises.Strings(), i), "%v", err)
		}
	}
}

// has says what options a lock has.
func has(lock *catalogue.Lock) string {
	if len(lock.Options) == 0 {
		return "it has no options"
	}
	return "it has " + strings.Join(lock.Options, ", ")
}

// strikes holds the faults to what can happen to the lock there.
func (c *check) strikes(kinds []faults.Fault) {
	lock, ours := catalogue.FindLock(c.entry.Lock)
	if !ours && c.entry.Worker == "" || !c.named() {
		return
	}
	offers := faults.Offers(c.entry.Place(), ours)
	possible(c, "faults", "a fault that cannot strike the lock there", c.entry.Faults, kinds, func(k faults.Fault) (string, error) {
		err := k.Available(offers)
		if err != nil {
			err = fmt.Errorf("%w, which there are none of here", err)
		} else if ours {
			err = cmp.Or(lock.Applies(k, catalogue.Server{}), lock.Strikes(k, c.entry.Place()))
		}
		return k.Name, err
	})
}

// possible holds what a list chooses to what can be. What it names and cannot be is
// wrong; what all stands for is taken as far as it goes, and has to go somewhere.
func possible[T any](c *check, key, kind string, list []string, some []T, can func(T) (name string, err error)) {
	left := len(some) == 0 || slices.Contains(list, names.None)
	var why error
	for _, it := range some {
		name, err := can(it)
		i := slices.Index(list, name)
		if err != nil && i >= 0 {
			c.beyond(kind, itemOf(c.at[key], list, i), "%v", err)
		}
		why, left = cmp.Or(why, err), left || err == nil || i >= 0
	}
	if !left {
		c.beyond(kind, c.at[key], "none of these %s applies to %s on %s: %v", key, c.entry.Called(), c.entry.Place(), why)
	}
}
