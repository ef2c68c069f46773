package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/bench"
)

// jsonPage is docs/json.md, parsed.
type jsonPage struct {
	tables map[string]jsonTable // by their anchors
	shown  []jsonExample
}

// jsonTable has the fields of an object, or the possible values of a string.
type jsonTable struct {
	fields map[string]jsonField
	values []string
}

type jsonField struct{ kind, there string }

// jsonExample is a command of the page, and a part of the output that it must print.
type jsonExample struct{ section, command, output string }

func readJSONPage(t *testing.T) *jsonPage {
	t.Helper()
	p := &jsonPage{tables: map[string]jsonTable{}}
	var section, command string
	var table jsonTable
	inside := false
	for line := range strings.Lines(readPage(t, "json.md")) {
		line = strings.TrimRight(line, "\n")
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		switch {
		case strings.HasPrefix(line, "```"):
			if inside = !inside; inside {
				p.shown = append(p.shown, jsonExample{section, command, ""})
			}
		case inside:
			p.shown[len(p.shown)-1].output += line + "\n"
		case strings.HasPrefix(line, "##"):
			section = strings.ToLower(strings.ReplaceAll(strings.TrimLeft(line, "# "), " ", "-"))
			table = jsonTable{fields: map[string]jsonField{}}
		case strings.HasPrefix(line, "    $ "):
			command = line[len("    $ "):]
		case section == "" || !strings.HasPrefix(line, "| `"):
		case len(cells) == 2:
			table.values = append(table.values, strings.Trim(cells[0], "`"))
			p.tables[section] = table
		default:
			table.fields[strings.Trim(cells[0], "`")] = jsonField{cells[1], cells[2]}
			p.tables[section] = table
		}
	}
	return p
}

// holds checks a value against the page's description of its kind, and lists the
// differences.
func (p *jsonPage) holds(at, kind string, v any) (wrong []string) {
	if of, ok := strings.CutPrefix(kind, "list of "); ok {
		list, ok := v.([]any)
		if !ok {
			return []string{fmt.Sprintf("%s is no list", at)}
		}
		for i, v := range list {
			wrong = append(wrong, p.holds(fmt.Sprintf("%s[%d]", at, i), of, v)...)
		}
		return wrong
	}
	object, isObject := v.(map[string]any)
	if of, ok := strings.CutPrefix(strings.Replace(kind, "objects of ", "object of ", 1), "object of "); ok && isObject {
		for key, v := range object {
			wrong = append(wrong, p.holds(at+"."+key, of, v)...)
		}
		return wrong
	}
	if _, link, ok := strings.Cut(kind, "](#"); ok {
		table, known := p.tables[strings.TrimSuffix(link, ")")]
		text, isString := v.(string)
		switch {
		case !known:
			return []string{fmt.Sprintf("the page has no table for %s", kind)}
		case isObject:
			return p.object(at, table, object)
		case isString && slices.Contains(table.values, text):
			return nil
		}
	}
	fits := false
	switch v := v.(type) {
	case string:
		fits = strings.HasPrefix(kind, "string") || kind == "boolean or string"
	case bool:
		fits = strings.HasPrefix(kind, "boolean")
	case json.Number:
		fits = strings.HasPrefix(kind, "number") || strings.HasPrefix(kind, "integer") && !strings.ContainsAny(string(v), ".e")
	case []any:
		fits = strings.HasPrefix(kind, "list: ")
	}
	if !fits {
		return []string{fmt.Sprintf("%s is %v, and the page says: %s", at, v, kind)}
	}
	return nil
}

// object checks an object against its table.
func (p *jsonPage) object(at string, table jsonTable, object map[string]any) (wrong []string) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if f, ok := table.fields[key]; ok {
			wrong = append(wrong, p.holds(at+"."+key, f.kind, object[key])...)
		} else {
			wrong = append(wrong, fmt.Sprintf("%s.%s is not on the page", at, key))
		}
	}
	for key, f := range table.fields {
		if _, ok := object[key]; !ok && f.there == "always" {
			wrong = append(wrong, fmt.Sprintf("%s has no %s, which the page says is always there", at, key))
		}
	}
	return wrong
}

// section checks a document against a section of the page.
func (p *jsonPage) section(t *testing.T, section, what string, doc any) {
	t.Helper()
	for _, wrong := range p.holds("", "[it](#"+section+")", doc) {
		t.Errorf("%s: %s", what, wrong)
	}
}

// decoded returns a document as generic JSON values, without lockcheck's types.
func decoded(t *testing.T, what, text string) (doc any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, text)
	}
	return doc
}

// anything lists the fields that differ between machines or releases.
var anything = []string{"seconds", "version", "revision", "go", "os", "arch", "schedule"}

// differs lists the differences between a document and an example. An example may leave
// out elements of lists and fields of objects.
func differs(at string, shown, got any) string {
	switch shown := shown.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok {
			return at + " is no object"
		}
		for key, v := range shown {
			has, ok := got[key]
			switch {
			case !ok:
				return fmt.Sprintf("%s has no %s", at, key)
			case slices.Contains(anything, key):
			default:
				if why := differs(at+"."+key, v, has); why != "" {
					return why
				}
			}
		}
		return ""
	case []any:
		got, ok := got.([]any)
		if !ok {
			return at + " is no list"
		}
		next := 0
		for i, v := range shown {
			why := "there are no more elements"
			for why != "" && next < len(got) {
				why = differs(fmt.Sprintf("%s[%d]", at, next), v, got[next])
				next++
			}
			if why != "" {
				return fmt.Sprintf("%s: nothing is like the %d. that is shown: %s", at, i+1, why)
			}
		}
		return ""
	}
	if shown != got {
		return fmt.Sprintf("%s is %v, not %v", at, got, shown)
	}
	return ""
}

// The commands of docs/json.md print the output that the page shows. All printed fields
// are on the page, and the fields that the page calls permanent are always there.
func TestThePageOfJSONIsWhatIsPrinted(t *testing.T) {
	p := readJSONPage(t)
	t.Chdir(t.TempDir())
	output := func(command string) string {
		if file, ok := strings.CutPrefix(command, "cat "); ok {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
		return lockcheck(t, strings.Fields(command)[1:]...).stdout
	}
	if len(p.shown) < 10 {
		t.Fatalf("the page shows %d examples", len(p.shown))
	}
	for _, x := range p.shown {
		doc := decoded(t, x.command, output(x.command))
		p.section(t, x.section, x.command, doc)
		if why := differs("", decoded(t, "the example of "+x.command, x.output), doc); why != "" {
			t.Errorf("the page shows something else of %s: %s", x.command, why)
		}
	}
	if err := os.WriteFile("lockcheck.yaml", []byte(smallSuite), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ section, command string }{
		{"cases", "case redis-* zk-* redlock-* mysql-*"},
		{"results", "run redis-set-lua --fault none --runs 5 --seed 1"},
		{"results", "run redis-set-lua zk-recipe --fault pause,failover --runs 20 --seed 1 --promise ownership,fencing --fencing"},
		{"results", "run redis-set-lua --strategy exhaustive --fault kill --acquires 1"},
		{"results", "suite"},
		{"verdicts", "shrink lockcheck-out/redis-set-lua-pause-4/schedule.json"},
		{"verdicts", "check --model mutex lockcheck-out/redis-set-lua-pause-4/history.jsonl"},
		{"verdicts", "check absent.jsonl"},
		{"several-verdicts", "replay lockcheck-out/redis-set-lua-pause-4 absent.json"},
		{"verdicts", "case redis-expiry-while-holding --pause 3s"},
		{"matrix", "matrix redis-watchdog --fault none,kill,failover --runs 50"},
		{"lists", "list locks"},
		{"lists", "list faults"},
		{"lists", "list cases"},
		{"lists", "list properties"},
		{"lists", "list models"},
		{"lists", "list reached"},
		{"lists", "list hazards"},
		{"contests", "bench fairness --clients 3 --for 50s"},
		{"several-verdicts", "check lockcheck-out"},
	} {
		p.section(t, c.section, c.command, decoded(t, c.command, lockcheck(t, append(strings.Fields(c.command), "--json")...).stdout))
	}
	kept, err := filepath.Glob("lockcheck-out/*/" + scheduleFile)
	if err != nil || len(kept) < 50 {
		t.Fatalf("%d runs are kept (%v)", len(kept), err)
	}
	for _, schedule := range kept {
		for file, section := range map[string]string{scheduleFile: "schedules", verdictFile: "verdicts"} {
			path := filepath.Join(filepath.Dir(schedule), file)
			p.section(t, section, path, decoded(t, path, output("cat "+path)))
		}
	}
}

// Documents that take minutes or need Docker have the fields of the page, too.
func TestThePageOfJSONHasWhatIsRarelyPrinted(t *testing.T) {
	p := readJSONPage(t)
	for section, doc := range map[string]any{
		"init":  initDocument{Files: []string{"lockcheck.yaml"}},
		"clean": cleanDocument{Removed: []string{"container 1"}},
		"herds": bench.HerdDocument{Cores: 2, Load: []float64{0, 0.5}, Cells: []bench.HerdCell{}, Growth: []bench.HerdGrowth{{}}},
	} {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		p.section(t, section, section, decoded(t, section, string(text)))
	}
}

// The check of a document reports every difference from the page.
func TestThePageOfJSONRefusesWhatItDoesNotSay(t *testing.T) {
	p := readJSONPage(t)
	for text, want := range map[string]string{
		`{"schema": 1, "removed": [], "more": 1}`: ".more is not on the page",
		`{"schema": 1}`:                  " has no removed, which the page says is always there",
		`{"schema": 1, "removed": [1]}`:  ".removed[0] is 1, and the page says: strings",
		`{"schema": 1.5, "removed": []}`: ".schema is 1.5, and the page says: integer",
	} {
		if got := p.holds("", "[it](#clean)", decoded(t, text, text)); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

const smallSuite = `lockcheck: 1
runs: 5
locks:
  - lock: redis-set-lua
    faults: [pause, failover]
    promises: [ownership]
  - lock: zk-recipe
    faults: [restart-lost]
`
