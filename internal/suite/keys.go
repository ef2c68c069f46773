package suite

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/endpoints"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/workloads"
)

// key has the properties of a key beyond the type of its value. Errors, the schema and
// docs/suite.md are made from it.
type key struct {
	about string
	one   string // name for an item or a word: a fault, a property
	words func() []string
	form  *form                     // of text that is not from a list of words
	most  uint64                    // of a number, which is 1 or more
	zero  bool                      // 0 is allowed, too
	long  func(time.Duration) error // returns an error if a duration is too long
	need  bool                      // the key is required
	as    string                    // an example for errors, of a key that needs a value
}

// form is the format of a text.
type form struct {
	all   []*regexp.Regexp // the text must match each of them
	words string           // description of the format
}

var (
	anyText = &form{[]*regexp.Regexp{regexp.MustCompile(`\S`)}, "some text"}
	id      = &form{[]*regexp.Regexp{regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)}, "letters, digits and . _ - after the first, 100 in all"}
	length  = &form{[]*regexp.Regexp{regexp.MustCompile(`^([0-9]+(\.[0-9]*)?(h|m|s|ms))+$`), regexp.MustCompile(`[1-9]`)}, "a length of time, as 90s or 5m"}
)

// least returns the smallest value of a number.
func (k key) least() uint64 {
	if k.zero {
		return 0
	}
	return 1
}

// limitFits returns an error if a suite cannot take so long.
func limitFits(t time.Duration) error {
	const most = math.MaxInt64 / time.Hour
	switch {
	case t < 1:
		return errors.New("it has to be 1ns or more")
	case t > most*time.Hour:
		return fmt.Errorf("it can be %dh at most", most)
	}
	return nil
}

// Places are the environments of an entry.
var Places = []string{"sim", "docker", External}

// External is the environment of the user's own servers.
const External = "external"

var suiteKeys = map[string]key{
	"lockcheck":   {about: "The version of this format: 1.", most: Format, need: true, as: "lockcheck: 1"},
	"seed":        {about: "The seed of the first run of every cell. In `sim` the same seed gives the same run. Default: 1.", most: math.MaxUint64, zero: true},
	"for":         {about: "How long the suite takes, for example 10m. It uses all of this time: what the runs leave over goes to the cells that ran least. Default: until all runs are done, and 30m at most.", long: limitFits},
	"runs":        {about: "How many runs each cell has. An entry can have its own number. Default: 1000 in `sim`, else 1.", most: harness.MostRuns},
	"regressions": {about: "The directory of counterexamples. A suite replays them first. Default: `regressions`.", form: anyText},
	"baseline":    {about: "A result (`result.json`, or the output of `--json`) with known violations. They do not fail the suite.", form: anyText},
	"locks":       {about: "The entries. Each is a lock and what it promises.", need: true, as: "- lock: redis-set-lua"},
}

var entryKeys = withServers(map[string]key{
	"name":           {about: "The name of the entry in results and files. Default: the lock's name, or `worker`.", form: id},
	"lock":           {about: "A built-in lock (see `lockcheck list locks`). Each entry has this or `worker`.", one: "lock", words: names.Locks, as: "lock: redis-set-lua"},
	"worker":         {about: "The command of a worker with your own lock (see docs/worker.md). Quotes work as in a shell; variables, globs and pipes do not. It runs on `docker` or `external`.", form: anyText, as: "worker: python3 worker.py"},
	"store":          {about: "The servers of a worker on `docker`: `redis` (one server), `redlock` (five independent ones), `sentinel` (one with two replicas and Sentinels), `zookeeper` or `mysql`. Default: `redis`.", one: "store", words: catalogue.WorkerStores},
	"on":             {about: "The environment: `sim` (virtual time, needs nothing), `docker` (real servers) or `external` (your own servers, see docs/external.md). Default: `sim`; for a worker `docker`.", one: "environment", words: func() []string { return Places }},
	"faults":         {about: "The faults: names, or `all`; `-NAME` takes one out; `none` means no fault. Each has a cell of its own. Default: all that apply.", one: "fault", words: faultWords},
	"faults-per-run": {about: "How many faults strike in a run, 1 to 1000. Default: 1, in `sim` sometimes 2.", most: harness.MostFaults},
	"mix":            {about: "Combine different faults in a run. All of them have one cell then."},
	"workloads":      {about: "What clients do: names or `all`; `-NAME` takes one out (see `lockcheck list workloads`). Each run has one of them. Default: `usual`.", one: "workload", words: func() []string { return orWithout(workloads.Names()) }},
	"promises":       {about: "The properties that must hold (see `lockcheck list properties`). Others are judged and shown, and do not fail the suite. Default: all that apply.", one: "property", words: names.Properties},
	"options":        {about: "Options of a built-in lock (see `lockcheck list locks`).", one: "option", words: names.Options},
	"fencing":        {about: "The guarded resource refuses accesses with stale tokens: `all`, or `writes` only.", one: "way of fencing", words: func() []string { return []string{"all", "writes"} }},
	"strategy":       {about: "The search: `random`, or in `sim` also `pct` (see docs/pct.md).", one: "strategy", words: func() []string { return []string{"random", harness.PCT} }},
	"depth":          {about: "With `pct`: how many orders of events a bug needs, 1 to 16. Default: drawn for each run.", most: harness.MaxDepth},
	"lease":          {about: "The lease T, 200ms to 10m. Default: 10s in `sim`; on `docker` 1s, 2s for locks that ask several masters, 4s where servers have replicas.", long: harness.LeaseFits},
	"clients":        {about: "How many clients there are, 1 to 200. Default: 2 to 5 in `sim`, drawn for each run; 5 on `docker`.", most: harness.MostClients},
	"acquires":       {about: "How often each client takes the lock, 1 to 1000. Default: 1 to 20 in `sim`, drawn for each run; 20 on `docker`.", most: harness.MostAcquires},
	"runs":           {about: "How many runs each of its cells has. Default: the suite's.", most: harness.MostRuns},
})

// orWithout returns the names, all, and each name with a - that removes it.
func orWithout(list []string) []string {
	list = append(slices.Clone(list), names.All)
	for _, name := range list[:len(list)-1] {
		list = append(list, "-"+name)
	}
	return list
}

func faultWords() []string { return append(orWithout(names.Faults()), names.None) }

// keyOrder returns the keys of a type in order.
func keyOrder(t reflect.Type) (list []string) {
	for _, f := range fieldsOf(t) {
		list = append(list, f.Tag.Get("yaml"))
	}
	return list
}

// fieldsOf returns the fields of a type that keys set.
func fieldsOf(t reflect.Type) []reflect.StructField {
	return slices.DeleteFunc(reflect.VisibleFields(t), func(f reflect.StructField) bool {
		name := f.Tag.Get("yaml")
		return name == "" || name == "-"
	})
}

// withServers adds the words for the user's own servers to the keys of an entry.
func withServers(keys map[string]key) map[string]key {
	for _, w := range new(endpoints.Servers).Words() {
		keys[w.Name] = key{about: "On `external`: " + strings.ReplaceAll(w.About, "`", "") + ".", form: anyText}
	}
	return keys
}

// Key describes a key of the file for people.
type Key struct {
	Name  string // of an entry: locks.NAME
	Is    string // the kind of its value, and whether it is required
	About string // Markdown
}

// Keys returns the keys of a suite and of its entries.
func Keys() (list []Key) {
	for _, c := range []struct {
		of     reflect.Type
		keys   map[string]key
		before string
	}{{reflect.TypeFor[Suite](), suiteKeys, ""}, {reflect.TypeFor[Entry](), entryKeys, "locks."}} {
		for _, f := range fieldsOf(c.of) {
			name := f.Tag.Get("yaml")
			list = append(list, Key{c.before + name, c.keys[name].is(f.Type), c.keys[name].about})
		}
	}
	return list
}

// is describes the values of a type.
func (k key) is(t reflect.Type) (is string) {
	switch {
	case t == reflect.TypeFor[[]Entry]():
		is = "list of entries"
	case t == reflect.TypeFor[Duration]():
		is = "length of time"
	case t == reflect.TypeFor[[]string](), t == reflect.TypeFor[checker.Promise]():
		is = k.one + ", or a list"
	case t.Kind() == reflect.Bool:
		is = "`true` or `false`"
	case t.Kind() != reflect.String:
		is = "number"
	case k.words != nil:
		is = "name"
	default:
		is = "text"
	}
	if k.need {
		is += ", needed"
	}
	return is
}
