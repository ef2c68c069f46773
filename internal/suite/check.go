package suite

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/workloads"
)

// beyond notes a mistake at a node that no schema can find. kind is the kind of mistake.
func (r *reader) beyond(kind string, n *yaml.Node, words string, args ...any) {
	r.wrong(n, words, args...)
	r.problems[len(r.problems)-1].beyond = kind
}

// check checks one entry. Each value is valid by itself: an invalid one has been noted,
// and is empty. check notes values that do not fit together.
type check struct {
	*reader
	entry *Entry
	at    map[string]*yaml.Node // the values, by key
	node  *yaml.Node            // the entry
}

// all makes all checks.
func (c *check) all() {
	c.whose()
	c.servers()
	c.strategy()
	some := slices.DeleteFunc(slices.Clone(c.entry.Faults), func(name string) bool { return name == names.None }) // "none" is a cell of its own
	kinds := chosen(c, "faults", some, names.ChooseFaults)
	c.several(kinds)
	does := chosen(c, "workloads", c.entry.Workloads, names.ChooseWorkloads)
	if lock, ok := catalogue.FindLock(c.entry.Lock); ok && c.entry.Worker == "" {
		c.lock(&lock, does)
	}
	c.alone()
	c.promises()
	c.strikes(kinds)
}

func (c *check) has(key string) bool { return c.at[key] != nil }

// named reports whether the name of the entry and its environment are known.
func (c *check) named() bool {
	return c.has("lock") != c.has("worker") && (c.entry.Called() != "worker" || c.entry.Worker != "") &&
		(!c.has("on") || c.entry.On != "") && (!c.has("name") || c.entry.Name != "")
}

// apart checks that the entry has a directory of its own. taken has the entries before
// it, by name and environment in lower case, because some file systems ignore case.
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

// whose checks that the entry has either a lock or a worker, and that its other keys
// fit.
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
					c.beyond("an invalid command", n, "%v", err)
				}
			})
		}
		if c.entry.On == "sim" {
			c.wrong(c.at["on"], "a worker runs on docker or external: a program of its own has no virtual time")
		}
		if c.has("options") {
			c.wrong(c.at["options"], "options are for locks that are built in: give those of a worker in its command")
		}
		if slices.Contains(names.Locks(), c.entry.Name) {
			c.wrong(c.at["name"], "%s is a lock that is built in: call the worker something else", c.entry.Name)
		}
	case c.has("store"):
		c.wrong(c.at["store"], "store is of a worker: a lock that is built in has its own servers")
	case c.entry.Lock != "" && c.entry.Name != c.entry.Lock && slices.Contains(names.Locks(), c.entry.Name):
		c.wrong(c.at["name"], "%s is another lock that is built in, and this is %s: call the entry something else", c.entry.Name, c.entry.Lock)
	}
}

// servers checks the user's own servers, and that they are for external only.
func (c *check) servers() {
	e, n := c.entry, cmp.Or(c.at["on"], c.node)
	if e.Place() != External {
		for _, w := range e.Words() {
			if c.has(w.Name) {
				c.wrong(c.at[w.Name], "%s is for on: %s", w.Name, External)
			}
		}
		return
	}
	if err := e.CheckKind(); err != nil {
		c.wrong(n, "%v", err)
		return
	}
	const kind = "servers that cannot be used"
	if err := e.Check(); err != nil {
		word, _, _ := strings.Cut(err.Error(), ":")
		c.beyond(kind, cmp.Or(c.at[word], n), "%v", err)
		return
	}
	layout := e.Layout()
	lock, ours := catalogue.FindLock(e.Lock)
	options, _ := catalogue.ParseOptions(strings.Join(e.Options, ",")) // a wrong one has been noted
	switch err := layout.Validate(); {
	case err != nil:
		c.beyond(kind, n, "%v", err)
	case e.Store != "" && e.Store != e.Servers.Store():
		c.beyond(kind, c.at["store"], "store: %s, and the addresses are of %s", e.Store, e.Servers.Store())
	case ours && e.Worker == "":
		if err := e.Serve(&lock, options); err != nil {
			c.beyond(kind, n, "%v", err)
		}
	}
}

// strategy checks that pct is used in sim only, and that depth comes with pct.
func (c *check) strategy() {
	pct := c.entry.Strategy == harness.PCT
	if pct && c.entry.Place() != "sim" {
		c.wrong(c.at["strategy"], "pct decides how long each message takes, which is not possible on %s: leave it out", c.entry.Place())
	}
	if c.has("depth") && !pct && (!c.has("strategy") || c.entry.Strategy != "") {
		c.wrong(c.at["depth"], "depth is of strategy: pct only")
	}
}

// chosen returns the items that a list chooses, and notes its mistakes.
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

// itemOf returns the node of an item of a list. It returns the node of the list if the
// item has none there, or if the list is an alias.
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

// several checks that faults-per-run and mix come with a fault, and mix with several
// kinds.
func (c *check) several(kinds []faults.Fault) {
	if slices.Equal(c.entry.Faults, []string{names.None}) {
		for _, key := range []string{"faults-per-run", "mix"} {
			if c.has(key) {
				c.wrong(c.at[key], "%s needs a fault, but faults is none: leave out one of them", key)
			}
		}
	} else if c.entry.Mix && len(kinds) == 1 {
		c.beyond("mix of one kind", c.at["mix"], "mix needs faults of several kinds, and %s is one", kinds[0].Name)
	}
}

// lock checks that a built-in lock supports the options and workloads.
func (c *check) lock(lock *catalogue.Lock, does []workloads.Workload) {
	for i, o := range c.entry.Options {
		if !slices.Contains(lock.Options, o) {
			c.beyond("an option that the lock does not have", itemOf(c.at["options"], c.entry.Options, i), "%s has no option %s; %s", lock.ID, o, has(lock))
		}
	}
	possible(c, "workloads", "a workload that the lock cannot be used in", c.entry.Workloads, does,
		func(w workloads.Workload) (string, error) { return w.Name, lock.Takes(w) })
}

// alone checks that one client alone can break the promises; otherwise any lock would
// keep them.
func (c *check) alone() {
	if c.entry.Clients != 1 {
		return
	}
	for i, p := range c.entry.Promises {
		if slices.Contains(checker.Contested, p) {
			c.wrong(itemOf(c.at["promises"], c.entry.Promises.Strings(), i), "with clients: 1 no lock can break %s: give it more clients, or leave it out", p)
		}
	}
}

// promises checks that each promise can be judged for the lock and environment.
// Otherwise the whole cell would remain open after all of its runs.
func (c *check) promises() {
	if _, ours := catalogue.FindLock(c.entry.Lock); !ours && c.entry.Worker == "" || !c.named() {
		return
	}
	options, err := catalogue.ParseOptions(strings.Join(c.entry.Options, ","))
	tokens := err != nil || options.Tokens() || c.entry.Fencing != "" // a wrong option has been noted already
	for i, p := range c.entry.Promises {
		if err := catalogue.Judged(c.entry.Lock, p, c.entry.Place(), tokens); err != nil {
			c.beyond("a promise that is never judged", itemOf(c.at["promises"], c.entry.Promises.Strings(), i), "%v", err)
		}
	}
}

// has names the options of a lock.
func has(lock *catalogue.Lock) string {
	if len(lock.Options) == 0 {
		return "it has no options"
	}
	return "it has " + strings.Join(lock.Options, ", ")
}

// strikes checks that the faults can strike the lock in its environment.
func (c *check) strikes(kinds []faults.Fault) {
	lock, known := c.entry.Tested()
	if !known || !c.named() || c.has("store") && c.entry.Store == "" {
		return
	}
	offers := faults.Offers(c.entry.Place(), c.entry.Worker == "")
	possible(c, "faults", "a fault that cannot strike the lock there", c.entry.Faults, kinds, func(k faults.Fault) (string, error) {
		err := k.Available(offers)
		if err != nil {
			err = fmt.Errorf("%w: not available here", err)
		} else {
			err = cmp.Or(lock.Applies(k, catalogue.Server{}), lock.Strikes(k, c.entry.Place()))
		}
		return k.Name, err
	})
}

// possible checks that the items of a list are possible. A named item that is not
// possible is a mistake. "all" leaves such items out, but some item must remain.
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
