package serve

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
	"github.com/lockcheck/lockcheck/report"
)

var (
	//go:embed web/list.html
	listHTML string
	//go:embed web/list.js
	listJS string

	listTemplate = report.Template(listHTML, listJS, template.FuncMap{
		"sign": index.Sign, "tone": index.Tone, "n": names.Thousands,
		"link": func(page string) string { return (&url.URL{Path: "/" + page}).String() },
	})
)

// most is how many entries a page of the list has.
const most = 200

// list is a page of the list.
type list struct {
	Dir     string
	Make    []string // commands that make a first result
	Runs    bool     // kept runs, not results
	Text    string   // filter
	All     int      // entries of this kind
	Found   int      // those that the filter lets through
	From    int
	Entries []entry
	Tag     string // changes with the entries
}

// list answers with a page of the list.
func (h *handler) list(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	l := &list{Dir: h.dir, Text: query.Get("q")}
	switch query.Get("show") {
	case "runs":
		l.Runs = true
	case "": // a Go test and a replay keep runs only
		l.Runs = len(h.found.pages(ofResults)) == 0 && len(h.found.pages(ofRuns)) > 0
	}
	for _, command := range []string{"suite", "run redis-set-lua --fault pause"} {
		l.Make = append(l.Make, terminal.Program()+" "+command+" --out "+terminal.Quoted(h.dir))
	}
	l.From, _ = strconv.Atoi(query.Get("from"))
	l.fill(&h.found)
	var part, page bytes.Buffer
	if err := listTemplate.ExecuteTemplate(&part, "entries", l); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	l.Tag = fmt.Sprintf("%.8x", sha256.Sum256(part.Bytes()))
	header := w.Header()
	header.Set("Content-Security-Policy", listPolicy)
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Type", "text/html; charset=utf-8")
	if r.Header.Get("If-None-Match") == l.Tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if err := listTemplate.Execute(&page, l); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Write(page.Bytes())
}

// fill reads the entries. Without a filter it reads only those that are shown.
func (l *list) fill(f *finder) {
	kind := ofResults
	if l.Runs {
		kind = ofRuns
	}
	all := f.pages(kind)
	words := strings.Fields(strings.ToLower(l.Text))
	l.All, l.From = len(all), max(0, l.From)
	for _, e := range all {
		if len(words) == 0 && (l.Found < l.From || len(l.Entries) == most) {
			l.Found++
			continue
		}
		e, ok := f.head(e)
		if !ok {
			l.All--
			continue
		}
		if !e.has(words) {
			continue
		}
		if l.Found >= l.From && len(l.Entries) < most {
			l.Entries = append(l.Entries, e)
		}
		l.Found++
	}
}

// has reports whether all words are in the entry.
func (e *entry) has(words []string) bool {
	text := strings.ToLower(strings.Join(append([]string{e.Path, e.Head.Command, e.Head.Arguments, e.Head.Result}, e.Head.Violated...), " "))
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// Older returns the link to older entries, or "".
func (l *list) Older() string { return l.at(l.From + most) }

// Newer returns the link to newer entries, or "".
func (l *list) Newer() string {
	if l.From == 0 {
		return ""
	}
	return l.at(max(0, l.From-most))
}

func (l *list) at(from int) string {
	if from >= l.Found && from > 0 {
		return ""
	}
	query := url.Values{}
	for name, value := range map[string]string{"q": l.Text, "from": strconv.Itoa(from), "show": l.Kind()} {
		if value != "" && value != "0" {
			query.Set(name, value)
		}
	}
	return "/?" + query.Encode()
}

// Kind returns the value of the parameter show.
func (l *list) Kind() string {
	if l.Runs {
		return "runs"
	}
	return "results"
}

// Last returns the number of the last entry that is shown, from 1.
func (l *list) Last() int { return l.From + len(l.Entries) }

// First returns the number of the first entry that is shown, from 1.
func (l *list) First() int { return l.From + 1 }

// Name returns how its page is named in the list: by its directory, where that is enough.
func (e *entry) Name() string {
	if name := path.Base(e.Path); e.Dir() == "." || name != index.File && name != rundir.PageFile {
		return e.Path
	}
	return e.Dir() + "/"
}

// Time returns when the page was written, in local time, or that it still is.
func (e *entry) Time() string {
	if e.Head.Result == index.Running {
		return "now"
	}
	return e.When.Format("2006-01-02 15:04:05")
}
