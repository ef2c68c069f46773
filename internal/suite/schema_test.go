package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v4"
	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/alltests"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/workloads"
)

var update = flag.Bool("update", false, "write the schema and the page anew")

func TestTheSchemaIsThatOfTheTypes(t *testing.T) {
	made, err := makeSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("lockcheck.schema.json", made, 0o666); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(made, Schema) {
		t.Error("lockcheck.schema.json is stale: go test ./internal/suite -update")
	}
}

// The tables of keys have a row for every key of the types, and no other row.
func TestEveryKeyHasARow(t *testing.T) {
	for _, c := range []struct {
		keys  map[string]key
		order []string
	}{{suiteKeys, keyOrder(reflect.TypeFor[Suite]())}, {entryKeys, keyOrder(reflect.TypeFor[Entry]())}} {
		for _, name := range c.order {
			if c.keys[name].about == "" {
				t.Errorf("%s has no description", name)
			}
		}
		if len(c.keys) != len(c.order) {
			t.Errorf("%d rows for %d keys", len(c.keys), len(c.order))
		}
	}
}

// compiled returns the compiled schema.
var compiled = sync.OnceValues(func() (*jsonschema.Schema, error) {
	of, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("suite.json", of); err != nil {
		return nil, err
	}
	return c.Compile("suite.json")
})

// allowed reports whether the schema accepts a document in JSON.
func allowed(t testing.TB, text []byte) bool {
	t.Helper()
	schema, err := compiled()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return schema.Validate(doc) == nil
}

// asJSON returns a document as JSON, which is also YAML.
func asJSON(t testing.TB, doc any) []byte {
	t.Helper()
	text, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// problems returns Parse's problems with a text: those that a schema can find, and the
// kinds of those that it cannot.
func problems(t testing.TB, text []byte) (within Problems, beyond []string) {
	_, err := Parse(text)
	var ps Problems
	if err != nil && !errors.As(err, &ps) {
		t.Fatalf("%v is no list of problems", err)
	}
	for _, p := range ps {
		if p.beyond == "" {
			within = append(within, p)
		} else if !slices.Contains(beyond, p.beyond) {
			beyond = append(beyond, p.beyond)
		}
	}
	return within, beyond
}

// Mistakes that a schema cannot find: for each, documents that the schema accepts and
// Parse rejects.
var beyondSchema = map[string][]string{
	"two entries of one name": {
		"{lock: redis-setnx}, {lock: redis-setnx, faults: pause}",
		"{worker: a}, {worker: b}",
		"{name: Mine, worker: a}, {name: mine, worker: b}",
	},
	"a length of time out of bounds":             {"{lock: redis-setnx, lease: 100ms}", "{lock: redis-setnx, lease: 900000000h}", "{lock: redis-setnx, lease: 300.5ms}"},
	"a list that takes out what is not in it":    {"{lock: redis-setnx, faults: [pause, -kill]}", "{lock: redis-setnx, workloads: [usual, -usual]}"},
	"an invalid command":                         {"{worker: 'sh -c \"exec'}", "{worker: '# none'}"},
	"mix of one kind":                            {"{lock: redis-setnx, faults: pause, mix: true}"},
	"an option that the lock does not have":      {"{lock: redis-setnx, options: cap}"},
	"a promise that is never judged":             {"{lock: redis-set-lua, promises: fencing}", "{lock: redis-set-lua, promises: fairness}"},
	"a workload that the lock cannot be used in": {"{lock: redis-set-lua, workloads: finally}"},
	"a fault that cannot strike the lock there":  {"{lock: redis-set-lua, faults: session-expiry}", "{lock: redis-set-lua, on: docker, faults: server-rate}", "{worker: a, faults: [pause, skew]}"},
}

func TestWhatIsBeyondTheSchema(t *testing.T) {
	for kind, entries := range beyondSchema {
		for _, e := range entries {
			var doc any
			if err := yaml.Load([]byte("{lockcheck: 1, locks: ["+e+"]}"), &doc); err != nil {
				t.Fatal(err)
			}
			text := asJSON(t, doc)
			within, beyond := problems(t, text)
			if !allowed(t, text) || len(within) > 0 || !slices.Equal(beyond, []string{kind}) {
				t.Errorf("%s: %s: schema %v, Parse %v %q", kind, e, allowed(t, text), within, beyond)
			}
		}
	}
	// JSON has only one type of numbers.
	text := []byte(`{"lockcheck":1.0,"locks":[{"lock":"redis-setnx"}]}`)
	if within, _ := problems(t, text); !allowed(t, text) || len(within) != 1 {
		t.Errorf("1.0: %v", within)
	}
}

// The schema checks which keys fit together.
func TestTheSchemaKnowsWhatGoesTogether(t *testing.T) {
	for entry, want := range map[string]bool{
		`{"lock": "redis-setnx", "name": "redis-setnx"}`:                               true,
		`{"lock": "redis-setnx", "name": "mine"}`:                                      true,
		`{"lock": "redis-setnx", "name": "redlock"}`:                                   false,
		`{"lock": "redis-setnx", "clients": 1, "promises": ["liveness", "ownership"]}`: true,
		`{"lock": "redis-setnx", "clients": 1, "promises": "exclusion"}`:               false,
		`{"lock": "redis-setnx", "clients": 1, "promises": ["liveness", "exclusion"]}`: false,
		`{"lock": "redis-setnx", "clients": 2, "promises": ["liveness", "exclusion"]}`: true,
		`{"worker": "a", "clients": 1, "promises": ["liveness", "fairness"]}`:          false,
		`{"worker": "a", "name": "redlock"}`:                                           false,
		`{"worker": "a", "store": "mysql"}`:                                            true,
		`{"worker": "a", "store": "etcd"}`:                                             false,
		`{"lock": "redis-setnx", "store": "redis"}`:                                    false,
	} {
		text := []byte(`{"lockcheck": 1, "locks": [` + entry + `]}`)
		if within, _ := problems(t, text); allowed(t, text) != want || (len(within) == 0) != want {
			t.Errorf("%s: schema %v, Parse %v, want %v", entry, allowed(t, text), within, want)
		}
	}
}

// values are values for keys, right and wrong ones.
var values = []any{
	nil, true, false, 0, 1, 2, 3, 16, 17, -1, 1.5, 1000, 1001, harness.MostRuns, harness.MostRuns + 1, uint64(1) << 63, "", " ", "x", "90s", "0s", "1h30m", "5", "-5s", "s", "1.5s", ".5s",
	"redis-set-lua", "redis-setnx", "zk-recipe", "sim", "docker", "mysql", "pct", "random", "exhaustive", "all", "none", "writes", "pause", "-pause", "kill",
	"usual", "exclusion", "token", "worker.py", "a name", "-all",
	[]any{},
	[]any{"pause"},
	[]any{"pause", "kill"},
	[]any{"pause", "pause"},
	[]any{"none"},
	[]any{"all", "-pause"},
	[]any{"exclusion", "lease-exclusion"},
	[]any{1},
	[]any{nil},
	[]any{"usual", "give-up"},
	[]any{"token"},
	map[string]any{},
	map[string]any{"a": 1},
}

// right returns right values for a key, so that some whole documents are right.
func right(key string) []any {
	switch key {
	case "lockcheck":
		return []any{1}
	case "lock":
		return []any{"redis-set-lua", "redis-setnx", "zk-recipe"}
	case "faults":
		return []any{"all", "none", names.Faults()[:3], []any{"-pause"}}
	case "workloads":
		return []any{"usual", workloads.Names()[:2]}
	case "promises":
		return []any{"exclusion", []any{"lease-exclusion", "liveness"}}
	case "on":
		return []any{"sim", "docker"}
	case "strategy":
		return []any{"random", "pct"}
	case "for", "lease":
		return []any{"5s", "1m", "500ms"}
	case "options":
		return []any{"token"}
	case "fencing":
		return []any{"all", "writes"}
	case "store":
		return []any{"redis", "zookeeper"}
	case "mix":
		return []any{true, false}
	case "name", "worker", "baseline", "regressions":
		return []any{"some", "redis-setnx", "a.b-c_d"}
	}
	return []any{1, 2, 16}
}

// Parse and the schema accept the same documents in JSON, except for mistakes that a
// schema cannot find.
func TestSchemaAndParseAgree(t *testing.T) {
	var good, wrong int
	rapidtest.Check(t, func(rt *rapid.T) {
		mapping := func(order []string, least int) map[string]any {
			m := map[string]any{}
			for range rapid.IntRange(least, 6).Draw(rt, "keys") {
				k := rapid.SampledFrom(order).Draw(rt, "key")
				if rapid.IntRange(0, 11).Draw(rt, "wrong") == 11 {
					m[k] = rapid.SampledFrom(values).Draw(rt, "value")
				} else if k != "locks" {
					m[k] = rapid.SampledFrom(right(k)).Draw(rt, "value")
				}
			}
			if rapid.IntRange(0, 19).Draw(rt, "unknown") == 19 {
				m["colour"] = "red"
			}
			return m
		}
		doc := mapping(keyOrder(reflect.TypeFor[Suite]()), 0)
		if rapid.IntRange(0, 9).Draw(rt, "format") > 0 {
			doc["lockcheck"] = 1
		}
		if rapid.IntRange(0, 9).Draw(rt, "locks") > 0 {
			entries := []any{}
			for range rapid.IntRange(0, 2).Draw(rt, "entries") {
				e := mapping(keyOrder(reflect.TypeFor[Entry]()), 0)
				if rapid.IntRange(0, 9).Draw(rt, "whose") > 0 {
					delete(e, "worker")
					e["lock"] = "redis-set-lua"
				}
				entries = append(entries, e)
			}
			doc["locks"] = entries
		}
		text := asJSON(t, doc)
		within, beyond := problems(t, text)
		if schema := allowed(t, text); schema != (len(within) == 0) {
			rt.Fatalf("schema %v, Parse %v\n%s", schema, within, text)
		} else if schema {
			good++
		} else {
			wrong++
		}
		for _, kind := range beyond {
			if beyondSchema[kind] == nil {
				rt.Fatalf("%s is in no list", kind)
			}
		}
	})
	t.Logf("%d documents were right, %d wrong", good, wrong)
	if alltests.Wanted() && (good < 5 || wrong < 5) {
		t.Error("too few of one kind to show anything")
	}
}
