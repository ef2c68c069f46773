package report

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// The page: its head, its template, its style and its script. Nothing else is loaded.
var (
	//go:embed web/run.html
	runHTML string
	//go:embed web/head.html
	headHTML string
	//go:embed web/page.css
	pageCSS string
	//go:embed web/run.js
	runJS string
)

// PageMark is in the head of every page, and of no other file.
const PageMark = `<meta name="generator" content="lockcheck">`

// PageOptions are the settings of a page. The zero value leaves out what is unknown.
type PageOptions struct {
	Options
	Again   string // the command that repeats the run
	Version string // of lockcheck
	Reached checker.Counts
	Notes   [][2]string // headings and texts, below the story
	Home    string      // address of a page that lists this one; "": none

	Title  string // of the run, above its lanes if another one is beside it
	Beside *Side  // another run, whose lanes are below on the same axis; nil: none

	Messages *history.Messages // between lanes; nil: unknown
}

// Page writes the page of a run: its verdict, its story, its picture on a time axis, what
// everybody knew at each moment, all properties and a table of operations. It is one
// file, sends no request, and the same run gives the same bytes. Without scripts the
// verdict, the story and the picture are there. The error is w's.
func Page(w io.Writer, h *history.History, verdicts []checker.Verdict, o PageOptions) error {
	return pageTemplate.Execute(w, newSheet(h, verdicts, o))
}

var pageTemplate = Template(runHTML, runJS, template.FuncMap{
	"pct": func(x float64) string { return fmt.Sprintf("%.3f%%", x) },
})

// Template returns the template of a page. Its text can use these templates: "head", the
// begin of every page; "policy", by which the page loads nothing and runs only its script;
// and "style". Its function "js" is the script, "shown" makes any text fit for a page, and
// "name" a name in a narrow place. It panics if the text is wrong.
func Template(text, script string, funcs template.FuncMap) *template.Template {
	common := template.FuncMap{
		"css": func() template.CSS { return template.CSS(pageCSS) }, "js": func() template.JS { return template.JS(script) },
		"inline": func() string { return Inline(script) }, "shown": shown, "name": name,
	}
	return template.Must(template.Must(template.New("page").Funcs(common).Funcs(funcs).Parse(headHTML)).Parse(text))
}

// Inline returns the part of a page's Content-Security-Policy that allows its style and its
// script, and no others. Style attributes are allowed: without scripts they place what is in
// the picture.
func Inline(script string) string {
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "style-src " + digest(pageCSS) + "; style-src-attr 'unsafe-inline'; script-src " + digest(script)
}

// sheet is the content of a page, in the order in which it is shown.
type sheet struct {
	Title, Sign, Word, Verdict, Tone string
	About, Version, Again, Home      string

	Story  []told
	Errors []string
	Notes  [][2]string
	Beside *sheet // the other run, of which only the verdict and the story are shown; nil: none

	Picture *picture // nil: nothing happened
	Strip   *strip
	Steps   []step

	Properties []property
	Reached    []count
	Table      table
}

// step is what everybody knew after a moment.
type step struct {
	N              int
	At, Line, Lane string
	X              float64
	States, Beside []state // of the run, and of the one beside it
}

// state is what one client believes, or one server knows.
type state struct{ Who, What, Tone string }

type property struct{ Name, Outcome, Sign, Tone, Why string }

type count struct {
	Name string
	N    int
}

func newSheet(h *history.History, verdicts []checker.Verdict, o PageOptions) *sheet {
	s := &sheet{Again: o.Again, Version: o.Version, Home: o.Home, Notes: o.Notes}
	plot := s.tell(h, verdicts, o.Options)
	s.draw(plot, o)
	list := failures(h)
	for _, f := range list[:min(len(list), mostFailures)] {
		s.Errors = append(s.Errors, shown(f.words()))
	}
	s.Strip = newStrip(h, s.Picture)
	for i := range verdicts {
		s.Properties = append(s.Properties, propertyOf(&verdicts[i], promise(h, o.Options)))
	}
	for _, c := range checker.Counters() {
		if n := o.Reached[c]; n > 0 {
			s.Reached = append(s.Reached, count{strings.ReplaceAll(c.String(), "_", " "), n})
		}
	}
	s.Table = newTable(h, verdicts)
	return s
}

// tell takes the verdict, the run and its story, which it returns.
func (s *sheet) tell(h *history.History, verdicts []checker.Verdict, o Options) *plot {
	p := &page{o: o, raw: true}
	subject, plot := tell(h, verdicts, o, PageEntries)
	p.headline(h, verdicts, subject, plot.title)
	s.takeVerdict(p)
	p.run(h)
	s.About = shown(p.take())
	if why := untold(plot); why != "" {
		s.Story = []told{{0, why}}
	} else {
		s.Story = plot.told()
	}
	for i := range s.Story {
		s.Story[i].Text = shown(s.Story[i].Text)
	}
	return plot
}

// draw takes the picture and the steps, with those of the run beside it.
func (s *sheet) draw(p *plot, o PageOptions) {
	var other *plot
	if b := o.Beside; b != nil {
		s.Beside = &sheet{}
		if other = s.Beside.tell(b.History, b.Verdicts, b.Options); !other.drawable() {
			other = nil
		}
		s.Beside.Title = shown(b.Title)
	}
	switch {
	case !p.drawable():
		return
	case other == nil:
		f := newFrame(p)
		s.Picture = p.picture(f)
		s.Picture.addMessages(p, o.Messages, f, 0)
	default:
		f := newFrame(p, other)
		s.Picture = p.picture(f)
		below := s.Picture.beside(o.Title, other.picture(f), o.Beside.Title)
		s.Picture.addMessages(p, o.Messages, f, 1)
		s.Picture.addMessages(other, o.Beside.Messages, f, below)
	}
	s.Steps = p.steps(s.Picture, other)
}

// takeVerdict splits the headline of the terminal's story.
func (s *sheet) takeVerdict(p *page) {
	text := p.take()
	s.Sign, text, _ = strings.Cut(text, " ")
	s.Word, s.Verdict, _ = strings.Cut(text, " ")
	s.Tone = map[string]string{"✗": "bad", "✓": "good"}[s.Sign]
	s.Tone = cmp.Or(s.Tone, "warn")
	s.Title = shown(s.Word + " " + s.Verdict)
	s.Verdict = shown(s.Verdict)
}

// take returns what was written, as one line, and empties the page.
func (p *page) take() string {
	text := strings.Join(strings.Fields(p.b.String()), " ")
	p.b.Reset()
	return text
}

func propertyOf(v *checker.Verdict, promised checker.Promise) property {
	mark := outcomes[min(int(v.Outcome), len(outcomes)-1)]
	x := property{Name: string(v.Property), Outcome: mark.word, Sign: mark.sign, Tone: tones[mark.style], Why: shown(v.Reason)}
	if v.Outcome == checker.Violated {
		x.Why = shown(sentence(v))
	}
	if !promised.Covers(v.Property) {
		x.Tone, x.Why = "", strings.TrimSuffix("not promised; "+x.Why, "; ")
	}
	return x
}

// tones are the classes of styles.
var tones = [...]string{plain: "", dim: "dim", good: "good", warn: "warn", bad: "bad"}

// longest is how many runes of a name, key, value or error text are shown.
const longest = 300

// shown makes text of a history fit for a page: it neither changes the direction of what
// follows nor fills the page.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r) || !unicode.IsPrint(r):
			return '�'
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	if r := []rune(s); len(r) > 4*longest {
		return string(r[:4*longest]) + "…"
	}
	return s
}

// name is shown for what stands in a lane or a cell.
func name(s string) string {
	s = shown(s)
	if r := []rune(s); len(r) > longest/5 {
		return string(r[:longest/5]) + "…"
	}
	return s
}
