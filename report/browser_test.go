package report_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/lockcheck/lockcheck/internal/browsertest"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// written keeps the flawed run of a case, and returns its page. The remedy is beside it if
// id ends with withRemedy.
func written(t *testing.T, id string) string {
	t.Helper()
	id, compared := strings.CutSuffix(id, withRemedy)
	flawed, remedied := simulated(t, id)
	dir := t.TempDir()
	if err := rundir.Save(dir, flawed); err != nil {
		t.Fatal(err)
	}
	if compared {
		if err := rundir.SaveComparison(dir, rundir.Side{Title: "The flaw", Run: flawed}, rundir.Side{Title: "The remedy", Run: remedied}); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, rundir.PageFile)
	if info, err := os.Stat(file); err != nil || info.Size() > 1<<20 {
		t.Errorf("%v, %v", info, err)
	}
	return "file://" + file
}

const withRemedy = " with its remedy"

// pages are cases of every store, and of faults that are drawn in different ways.
var pages = []string{
	"redis-get-del-race", "redlock-clock-jump", "redis-sentinel-split-brain", "zk-session-expiry-holder", "mysql-fair-dead-waiters",
	"redis-renew-unconditional", "zk-herd-double-entry", "redis-delayed-write", "mysql-getlock-failover", "redlock-split-vote",
	"redis-get-del-race" + withRemedy,
}

// A page shows the violation without scrolling, on a large and on a small screen, in light
// and in dark, and its controls work.
func TestPagesInABrowser(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	script := func(js string, into any) chromedp.Action { return chromedp.Evaluate(js, into) }
	for _, id := range pages {
		url := written(t, id)
		for _, width := range []int64{1280, 390} {
			var got struct {
				Wide, Title, Bottom, Numbers, Steps float64
				Now                                 []string
			}
			err := chromedp.Run(ctx,
				chromedp.EmulateViewport(width, 800), network.Enable(), runtime.Enable(), chromedp.Navigate(url),
				script(`({
					wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
					title: document.querySelector("h1").getBoundingClientRect().bottom,
					bottom: document.querySelector(".lane.band, .lane.server, .lane.client").getBoundingClientRect().bottom,
					numbers: document.querySelectorAll("a.moment").length, steps: document.querySelectorAll("#known li").length,
					now: [...document.querySelectorAll(".told.now, a.moment.now, li.now")].map((e) => e.tagName)})`, &got),
			)
			if err != nil {
				t.Fatalf("%s at %d: %v", id, width, err)
			}
			if got.Wide > 0 || got.Title > 300 || width == 1280 && got.Bottom > 800 {
				t.Errorf("%s at %d pixels: %.0f too wide, title down to %.0f, lanes to %.0f", id, width, got.Wide, got.Title, got.Bottom)
			}
			if got.Steps == 0 || len(got.Now) < 2 {
				t.Errorf("%s: %.0f steps, marked: %v", id, got.Steps, got.Now)
			}
		}
	}
	var zoomed bool
	var step, known, filtered, pointed, dark, light, printed string
	err := chromedp.Run(ctx,
		chromedp.EmulateViewport(1280, 800), chromedp.Navigate(written(t, "redis-get-del-race")),
		chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowRight), chromedp.KeyEvent(kb.ArrowLeft),
		script(`document.querySelector("#slider").value`, &step), script(`document.querySelector("li.now dl").innerText`, &known),
		script(`{ const was = document.querySelector("b.hold").offsetWidth; document.querySelector("#in").click(); document.querySelector("b.hold").offsetWidth > was }`, &zoomed),
		script(`document.querySelector("#filter").focus()`, nil), chromedp.KeyEvent("c1 release"), script(`document.querySelector("#matches").value`, &filtered),
		script(`document.querySelector('.told[data-n="6"]').dispatchEvent(new MouseEvent("mouseenter")), document.querySelector("a.moment.now").textContent`, &pointed),
		script(`getComputedStyle(document.body).backgroundColor`, &light),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}),
		script(`getComputedStyle(document.body).backgroundColor`, &dark),
		emulation.SetEmulatedMedia().WithMedia("print"),
		script(`[...document.querySelectorAll("dl")].every((e) => getComputedStyle(e).display !== "none") + " " + getComputedStyle(document.querySelector("#operations")).display`, &printed),
	)
	if err != nil {
		t.Fatal(err)
	}
	if step != "2" || !strings.Contains(known, "c1") || !zoomed || pointed != "6" || light == dark || printed != "true none" {
		t.Errorf("step %q knows %q, zoomed: %t, pointed at %q, light %q, dark %q, printed %q", step, known, zoomed, pointed, light, dark, printed)
	}
	if !strings.HasPrefix(filtered, "1 of ") {
		t.Errorf("c1 released once, and %q are found", filtered)
	}
}

// Without a mouse, everything is reached in the order in which it is read: the controls of
// the picture, its moments, the story, and the rows of the table. A row shows its operation
// in the picture.
func TestPagesByKeyboard(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	if err := chromedp.Run(ctx, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(written(t, "redis-get-del-race"))); err != nil {
		t.Fatal(err)
	}
	names, err := browsertest.Tab(ctx, 11)
	if want := "Copy, Moment before, Moment, Next moment, Zoom in, Zoom out, All, Story, everyone, messages"; err != nil || strings.Join(names[:10], ", ") != want || !strings.HasPrefix(names[10], "Moment 1, ") {
		t.Errorf("%v, the focus goes to %q", err, names)
	}
	var order []string
	err = chromedp.Run(ctx, chromedp.Evaluate(`[...document.querySelectorAll("a, button, input, [tabindex='0']")].filter((e) => e.tabIndex === 0 && e.getClientRects().length).map((e) => e.closest("section")?.id ?? "header")`, &order))
	if want := "header picture story known operations"; err != nil || strings.Join(slices.Compact(order), " ") != want {
		t.Errorf("%v, the order of focus is %q", err, slices.Compact(order))
	}
	if err := chromedp.Run(ctx, chromedp.Focus("#filter", chromedp.ByQuery)); err != nil {
		t.Fatal(err)
	}
	names, err = browsertest.Tab(ctx, 2)
	if err != nil || names[0] != "Table of operations" || !strings.HasPrefix(names[1], "line 2, c1 acquire: ") {
		t.Errorf("%v, after the filter the focus goes to %q", err, names)
	}
	var second, moment string
	var hidden bool
	err = chromedp.Run(ctx, chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.Enter),
		chromedp.Evaluate(`document.activeElement.closest("tr") === document.querySelectorAll("#rows tr")[1] ? [...document.activeElement.closest("tr").children].slice(1, 4).map((e) => e.textContent).join(" ") : "another row"`, &second),
		chromedp.Evaluate(`document.querySelector("#moment").value.replace(":", "")`, &moment), chromedp.Evaluate(`document.querySelector("#now").hidden`, &hidden))
	if err != nil || second != moment || hidden {
		t.Errorf("%v, the second row is %q, shown: %q, hidden: %t", err, second, moment, hidden)
	}
}

// Messages between lanes are shown when somebody wants them, with those that were lost or
// late. Without a record of messages there is no switch.
func TestMessagesInABrowser(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	for _, tt := range []struct{ id, has, kind string }{
		{"redis-get-del-race", "c1 → redis-1: SET a", ""},
		{"redis-delayed-write", "c1 → resource: write 1", "late"},
		{"redis-retry-set-nx", "redis-1 → c1: OK", "lost"},
		{"redis-get-del-race" + withRemedy, "c1 → redis-1: SET a", ""},
	} {
		for _, width := range []int64{1280, 390} {
			var before, shown, hidden int
			var titles, said string
			const click = `document.querySelector("#showmessages").click()`
			const count = `document.querySelectorAll("#messages path").length`
			err := chromedp.Run(ctx, chromedp.EmulateViewport(width, 800), chromedp.Navigate(written(t, tt.id)),
				chromedp.Evaluate(count, &before), chromedp.Evaluate(click, nil), chromedp.Evaluate(count, &shown),
				chromedp.Evaluate(`[...document.querySelectorAll("#messages path`+strings.TrimSuffix("."+tt.kind, ".")+`")].filter((e) => e.getBoundingClientRect().height > 5).map((e) => e.textContent).join("\n")`, &titles),
				chromedp.Evaluate(`document.querySelector("#sent").innerText`, &said), chromedp.Evaluate(click, nil),
				chromedp.Evaluate(`document.querySelector("#messages").offsetHeight`, &hidden))
			if err != nil {
				t.Fatal(err)
			}
			if before != 0 || shown == 0 || hidden != 0 || !strings.Contains(titles, tt.has) || !strings.Contains(said, "messages") {
				t.Errorf("%s at %d: %d paths before, %d shown, %d high when hidden, %q\n%s", tt.id, width, before, shown, hidden, said, titles)
			}
		}
	}
	flawed, _ := simulated(t, "redis-get-del-race")
	flawed.Messages = nil
	dir := t.TempDir()
	if err := rundir.Save(dir, flawed); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, rundir.PageFile))
	if err != nil || strings.Contains(string(page), `id="showmessages"`) || strings.Contains(string(page), `id="messages"`) {
		t.Errorf("%v: a run without messages has a switch for them", err)
	}
}

// Without scripts the verdict, the picture and the story are there.
func TestPagesWithoutScripts(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	var said string
	var hold float64
	err := chromedp.Run(ctx, emulation.SetScriptExecutionDisabled(true), chromedp.EmulateViewport(1280, 800), chromedp.Navigate(written(t, "redis-get-del-race")),
		chromedp.ActionFunc(func(ctx context.Context) error {
			_, _, content, _, _, _, err := page.GetLayoutMetrics().Do(ctx)
			if err == nil && content.Height < 600 {
				err = fmt.Errorf("the page is %.0f high", content.Height)
			}
			hold = content.Height
			return err
		}),
		chromedp.Text("#story", &said, chromedp.ByQuery), chromedp.WaitVisible("b.hold", chromedp.ByQuery))
	if err != nil || hold == 0 || !strings.Contains(said, "c1's update was lost") && !strings.Contains(said, "update was lost") {
		t.Errorf("%v, %q", err, said)
	}
}

// Whoever cannot see the picture gets names of its lanes, bars and buttons.
func TestPagesCanBeHeard(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	nodes, err := browsertest.Hear(ctx, written(t, "redis-get-del-race"))
	if err != nil {
		t.Fatal(err)
	}
	heard := map[string]bool{}
	for _, n := range nodes {
		role, name := n.Role, n.Name
		heard[role+" "+name] = true
		if name == "" && (role == "button" || role == "link" || role == "slider" || role == "image" || role == "checkbox" || role == "searchbox") {
			t.Errorf("a %s without a name", role)
		}
	}
	for _, want := range []string{"group c1", "slider Moment", "button Next moment", "searchbox Filter of operations", "heading What happened"} {
		if !heard[want] {
			t.Errorf("no %s", want)
		}
	}
}
