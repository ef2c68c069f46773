package index

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lockcheck/lockcheck/internal/browsertest"
	"github.com/lockcheck/lockcheck/internal/results"
)

// strange are texts that must be shown as they are.
var strange = []string{
	`<script>document.title = "executed"</script>`, `"><img src=x onerror="document.title = 'executed'">`, `' onmouseover='document.title = "executed"`,
	"\u202eright to left\u202c שלום", strings.Repeat("long", 2_500), "{{.}} ${1} `x` \\u003c", "a\nb|c\x00d",
}

// strangePage is a page all of whose texts are strange.
func strangePage() *Page {
	p := &Page{Head: Head{Command: "suite", Arguments: strings.Join(strange, " "), Result: "violated", Reason: strings.Join(strange, "; "), Baseline: &Baseline{File: strange[0], New: 1}}}
	for _, s := range strange {
		p.Rows = append(p.Rows, Row{
			Name: "cell " + s, Lock: s, On: s, Faults: []string{s, "pause"}, Result: "violated", Reason: s, Reached: []string{s},
			Broken: []Violation{{Property: s, Words: s, Mark: "new", Sentence: s, Page: "javascript:document.title = 'executed'"}, {Property: "exclusion", Page: "run/report.html"}},
		})
		p.Past = append(p.Past, Past{"No longer found", []results.Violation{{Cell: s}}})
	}
	return p
}

func TestStrangeTextsAreShownAndNeverExecuted(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	file := filepath.Join(t.TempDir(), File)
	if err := strangePage().Write(file); err != nil {
		t.Fatal(err)
	}
	browsertest.Look(t, ctx, "file://"+file)
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Sources(t, string(written))
	var title, text string
	var found []string
	err = chromedp.Run(ctx, chromedp.Evaluate(`document.querySelectorAll("a").forEach((a) => a.dispatchEvent(new MouseEvent("mouseover", { bubbles: true })))`, nil),
		chromedp.Title(&title), chromedp.Text("#cells", &text),
		chromedp.Evaluate(`[...document.querySelector("#lock").options].slice(1).map((o) => { const s = document.querySelector("#lock"); s.value = o.value; s.oninput(); return document.querySelector("#matches").value })`, &found))
	if err != nil {
		t.Fatal(err)
	}
	if title != "lockcheck suite: violated" {
		t.Errorf("the title is %q", title)
	}
	for _, want := range []string{strange[0], strange[1], strange[2], "שלום", strange[5]} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not shown", want)
		}
	}
	if strings.ContainsAny(text, "\u202e\x00") || len(text) > 200_000 {
		t.Errorf("%d bytes, with controls: %t", len(text), strings.ContainsAny(text, "\u202e\x00"))
	}
	if len(found) != len(strange) || slices.ContainsFunc(found, func(s string) bool { return s != "1 of 7 shown" }) {
		t.Errorf("the filter of locks finds %q", found)
	}
}

// Every filter has a name and comes before the table; rows follow in their order.
func TestTheIndexCanBeFilteredByKeyboard(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	file := filepath.Join(t.TempDir(), File)
	p := &Page{Head: Head{Command: "suite", Result: "violated"}, Rows: []Row{
		{Name: "a", Lock: "redlock", Result: "held", On: "sim"},
		{Name: "b", Lock: "redlock", Faults: []string{"pause"}, Result: "violated", On: "sim", Broken: []Violation{{Property: "exclusion", Mark: "new", Page: "b/report.html", Found: "b/first/report.html"}}},
		{Name: "c", Lock: "zk-recipe", Faults: []string{"kill"}, Result: "known", On: "sim", Broken: []Violation{{Property: "fairness", Mark: "known", Page: "c/report.html"}}},
	}}
	if err := p.Write(file); err != nil {
		t.Fatal(err)
	}
	nodes, err := browsertest.Hear(ctx, "file://"+file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []browsertest.Node{{Role: "combobox", Name: "lock"}, {Role: "combobox", Name: "fault"}, {Role: "combobox", Name: "property"}, {Role: "combobox", Name: "result"}, {Role: "searchbox", Name: "text"}, {Role: "columnheader", Name: "violations"}} {
		if !slices.Contains(nodes, want) {
			t.Errorf("no %+v among %+v", want, nodes)
		}
	}
	order, err := browsertest.Tab(ctx, 8)
	if want := []string{"lock", "fault", "property", "result", "text", "exclusion", "as found", "fairness"}; err != nil || !slices.Equal(order, want) {
		t.Errorf("the focus goes to %q, want %q, %v", order, want, err)
	}
	for choice, want := range map[[2]string]string{
		{"lock", "redlock"}: "b a", {"fault", "none"}: "a", {"property", "fairness"}: "c", {"result", "violated"}: "b", {"result", "known"}: "c", {"result", "new"}: "b", {"filter", "PAUSE red"}: "b",
	} {
		var shown string
		err := chromedp.Run(ctx, chromedp.Evaluate(`{ const s = document.querySelector("#`+choice[0]+`"); s.value = "`+choice[1]+`"; s.oninput();
			const text = [...document.querySelectorAll("#cells tr:not([hidden]) td[data-of=lock] small")].map((e) => e.textContent).join(" "); s.value = ""; text }`, &shown))
		if err != nil || shown != want {
			t.Errorf("%v shows %q, want %q, %v", choice, shown, want, err)
		}
	}
}
