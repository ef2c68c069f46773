package index

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"html"
	"html/template"
	"io"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/report"
)

// File is the name of the page in a directory of results.
const File = "index.html"

// Running is the result on a page from the begin of a command to its end.
const Running = "running"

// Page is the content of the page.
type Page struct {
	Head
	Rows []Row
	Past []Past
}

// Head is the begin of a page, and all that a list of pages shows of it.
type Head struct {
	Command   string    `json:"command"`
	Arguments string    `json:"arguments,omitempty"`
	Version   string    `json:"version"`
	Result    string    `json:"result"` // Running, or the verdict in a few words
	Reason    string    `json:"reason,omitempty"`
	Cells     int       `json:"cells"`
	Runs      int       `json:"runs"`
	Seed      uint64    `json:"seed"` // of the first run
	Violated  []string  `json:"violated,omitempty"`
	Baseline  *Baseline `json:"baseline,omitempty"`
}

// Baseline counts the violations in comparison with the baseline.
type Baseline struct {
	File   string `json:"file"`
	New    int    `json:"new"`
	Known  int    `json:"known"`
	Gone   int    `json:"gone"`
	Unseen int    `json:"unseen"`
}

// Row is a cell, or a case.
type Row struct {
	Name, Lock, On string
	Faults         []string
	Result, Reason string
	Runs           int
	Seed           uint64
	Broken         []Violation
	Also           []Violation // other runs; Property says which
	Reached        []string    // hazards
}

// Violation is a violated property of a row.
type Violation struct {
	Property, Words, Mark, Sentence string
	Page, Found                     string // links to the page of the shortest run, and to that of the run as it was found; or ""
}

// Aside reports whether nobody promised that property.
func (v *Violation) Aside() bool { return v.Mark == notPromised }

// Past are violations of the baseline that are no longer there.
type Past struct {
	What string
	List []results.Violation
}

// tones are the signs and the classes of results.
var tones = map[string][2]string{
	string(results.Held): {"✓", "good"}, string(results.Violated): {"✗", "bad"}, string(results.Known): {"✗", "warn"},
	string(results.Inconclusive): {"?", "warn"}, string(results.Unavailable): {"!", "warn"}, Running: {"…", "warn"},
	AsDocumented: {"✓", "good"}, NotAsDocumented: {"✗", "bad"},
}

// urgent orders the rows; other results come last.
var urgent = map[string]int{
	string(results.Violated): -4, NotAsDocumented: -4, string(results.Inconclusive): -3, string(results.Unavailable): -2, string(results.Known): -1,
}

// The results of a documented case.
const (
	AsDocumented    = "as documented"
	NotAsDocumented = "not as documented"
)

// Sign returns the sign of a result, "–" for one without.
func Sign(result string) string {
	if t, ok := tones[result]; ok {
		return t[0]
	}
	return "–"
}

// Tone returns the class of a result: good, bad, warn or dim.
func Tone(result string) string {
	if t, ok := tones[result]; ok {
		return t[1]
	}
	return "dim"
}

var (
	//go:embed web/index.html
	indexHTML string
	//go:embed web/index.js
	indexJS string

	indexTemplate = report.Template(indexHTML, indexJS, template.FuncMap{
		"sign": Sign, "tone": Tone, "n": names.Thousands, "count": names.Count,
		"json":    encoded,
		"choices": choices,
	})
)

// choice is a filter, and the values that it offers.
type choice struct {
	Name   string
	Values []string
}

// choices returns the filters of the rows that have more than one value.
func choices(rows []Row) (list []choice) {
	add := func(name string, of func(*Row) []string) {
		seen := map[string]bool{}
		for i := range rows {
			for _, v := range of(&rows[i]) {
				seen[v] = true
			}
		}
		list = append(list, choice{name, slices.Sorted(maps.Keys(seen))})
	}
	add("lock", func(r *Row) []string { return []string{r.Lock} })
	add("fault", (*Row).Struck)
	add("property", (*Row).Properties)
	add("result", (*Row).Results)
	return list
}

// Struck returns the faults of a row, "none" without any.
func (r *Row) Struck() []string {
	if len(r.Faults) == 0 {
		return []string{names.None}
	}
	return r.Faults
}

// Properties returns the violated properties.
func (r *Row) Properties() (list []string) {
	for _, v := range r.Broken {
		list = append(list, v.Property)
	}
	return list
}

// Results returns the result, and the marks of the violations.
func (r *Row) Results() []string {
	list := []string{r.Result}
	for _, v := range r.Broken {
		if v.Mark != "" && !slices.Contains(list, v.Mark) {
			list = append(list, v.Mark)
		}
	}
	return list
}

// Write writes the page to a file.
func (p *Page) Write(file string) error {
	text, err := p.HTML()
	if err != nil {
		return err
	}
	return rundir.WriteFile(file, text)
}

// HTML returns the page. Rows that need somebody come first.
func (p *Page) HTML() ([]byte, error) {
	slices.SortStableFunc(p.Rows, func(a, b Row) int { return cmp.Compare(urgent[a.Result], urgent[b.Result]) })
	var text bytes.Buffer
	err := indexTemplate.Execute(&text, p)
	return text.Bytes(), err
}

// encoded returns the head as JSON, with texts that are short.
func encoded(h Head) (string, error) {
	for _, s := range []*string{&h.Arguments, &h.Reason} {
		if r := []rune(*s); len(r) > longest {
			*s = string(r[:longest]) + "…"
		}
	}
	text, err := json.Marshal(h)
	return string(text), err
}

// longest is how many runes of a text a list of pages shows.
const longest = 300

var headPattern = regexp.MustCompile(`<meta name="lockcheck-result" content="([^"]*)">`)

// mostHead is how many bytes of a page its head is within.
const mostHead = 64 << 10

// ReadHead reads the head of a page. ok is false if r is no page of a result.
func ReadHead(r io.Reader) (h Head, ok bool) {
	buf := make([]byte, 0, 4<<10)
	for len(buf) < mostHead { // the head of most pages is in the first piece
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if m := headPattern.FindSubmatch(buf); m != nil {
			return h, strings.HasPrefix(string(buf), "<!doctype html>") && json.Unmarshal([]byte(html.UnescapeString(string(m[1]))), &h) == nil
		}
		if err != nil {
			break
		}
		buf = slices.Grow(buf, cap(buf))
	}
	return Head{}, false
}

// Path returns the page of a command in a directory of results. It is File, unless the
// result of another command is there, whose page that is.
func Path(dir, command string, there results.Head) string {
	if there.Command == "" || there.Command == command {
		return filepath.Join(dir, File)
	}
	return filepath.Join(dir, command+".html")
}

// Files are the names that Path returns.
var Files = []string{File, "run.html", "case.html", "matrix.html"}
