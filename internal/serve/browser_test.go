package serve

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/lockcheck/lockcheck/internal/browsertest"
	"github.com/lockcheck/lockcheck/internal/index"
)

// The list is replaced when it changes, and the focus stays on its link.
func TestTheListRefreshesItself(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := httptest.NewServer(p.h)
	defer s.Close()
	p.result("suite", index.Head{Command: "suite", Result: index.Running}, 0)
	p.result("old", held("run"), time.Hour)
	ctx := browsertest.Start(t, s.URL)
	browsertest.Look(t, ctx, s.URL)
	nodes, err := browsertest.Hear(ctx, s.URL)
	for _, want := range []browsertest.Node{{Role: "combobox", Name: "show"}, {Role: "searchbox", Name: "text"}, {Role: "button", Name: "Filter"}, {Role: "link", Name: "suite/"}} {
		if err != nil || !slices.Contains(nodes, want) {
			t.Errorf("no %+v, %v", want, err)
		}
	}
	order, err := browsertest.Tab(ctx, 5)
	if want := []string{"show", "text", "Filter", "suite/", "old/"}; err != nil || !slices.Equal(order, want) {
		t.Errorf("the focus goes to %q, want %q, %v", order, want, err)
	}
	var sign, focus string
	p.result("suite", index.Head{Command: "suite", Result: "violated", Violated: []string{"exclusion"}}, 0)
	err = chromedp.Run(ctx, chromedp.WaitVisible("#list tr.bad", chromedp.ByQuery), chromedp.Text("#list tr.bad td", &sign, chromedp.ByQuery), chromedp.Evaluate(`document.activeElement.textContent`, &focus))
	if err != nil || !strings.Contains(sign, "violated") || focus != "old/" {
		t.Errorf("it is %q, the focus is on %q, %v", sign, focus, err)
	}
	s.CloseClientConnections()
	s.Close()
	if err := chromedp.Run(ctx, chromedp.Poll(`document.querySelector("#state").textContent.includes("has ended")`, nil)); err != nil {
		t.Errorf("the end is not shown: %v", err)
	}
}

func TestStrangeNamesAreListedAndNeverExecuted(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := httptest.NewServer(http.HandlerFunc(p.h.ServeHTTP))
	defer s.Close()
	const script = `<script>document.title = "executed"<%2fscript>`
	for _, dir := range []string{`"><img src=x onerror="document.title = 'executed'">`, script, "\u202eright שלום", strings.Repeat("long", 60), "a#b?c%2f d", "javascript:alert(1)"} {
		p.result(dir, index.Head{Command: script, Arguments: strings.Repeat("x", 10_000) + "\u202e" + script, Result: "violated", Reason: script, Violated: []string{script}}, 0)
	}
	ctx := browsertest.Start(t, s.URL)
	browsertest.Look(t, ctx, s.URL+"/?q="+url.QueryEscape(`violated`))
	var title, text string
	var links []string
	err := chromedp.Run(ctx, chromedp.Title(&title), chromedp.Text("#list", &text), chromedp.Evaluate(`[...document.querySelectorAll("#list a")].map((a) => a.href)`, &links))
	if err != nil {
		t.Fatal(err)
	}
	if title == "executed" || !strings.Contains(text, script) || strings.Contains(text, "\u202e") || len(links) != 6 {
		t.Errorf("title %q, %d links, shown\n%.500s", title, len(links), text)
	}
	for _, link := range links {
		r, err := http.Get(link)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Errorf("%s: %v, %v", link, r, err)
			continue
		}
		r.Body.Close()
	}
	err = chromedp.Run(ctx, chromedp.Navigate(s.URL+"/?q="+url.QueryEscape(`"><script>document.title = "executed"</script>`)), chromedp.Title(&title), chromedp.Text("#list", &text))
	if err != nil || title == "executed" || !strings.Contains(text, "Nothing fits the filter") {
		t.Errorf("title %q, shown %q, %v", title, text, err)
	}
}
