// Package browsertest opens pages in Chromium for tests.
package browsertest

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/lockcheck/lockcheck/internal/alltests"
)

// Start starts Chromium. Errors of scripts, and requests for anything but files and the
// URLs that begin with one of may, fail the test. The test is skipped without Chromium,
// unless all tests are wanted.
func Start(t *testing.T, may ...string) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if alltests.Wanted() {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	profile, err := os.MkdirTemp("", "lockcheck-chromium-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // its processes may write up to their end
		for end := time.Now().Add(time.Minute); os.RemoveAll(profile) != nil; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("%s stays", profile)
				return
			}
		}
	})
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(profile), chromedp.WSURLReadTimeout(2*time.Minute))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	whole := ctx
	t.Cleanup(func() { chromedp.Cancel(whole) }) // waits for its end
	ctx, cancel = context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			t.Errorf("an error of the script: %s", e.ExceptionDetails.Error())
		case *network.EventRequestWillBeSent:
			u := e.Request.URL
			if !slices.ContainsFunc(append(may, "file:", "data:"), func(begin string) bool { return strings.HasPrefix(u, begin) }) {
				t.Errorf("a request: %s", u)
			}
		}
	})
	if err := chromedp.Run(ctx, network.Enable(), runtime.Enable()); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// Node is what a screen reader says of a part of a page.
type Node struct{ Role, Name string }

// Hear opens a page, and returns what a screen reader says of it.
func Hear(ctx context.Context, url string) (list []Node, err error) {
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	err = chromedp.Run(ctx, chromedp.Navigate(url), chromedp.ActionFunc(func(ctx context.Context) error {
		var text jsontext.Value // the library does not know all words of this Chromium
		if err := cdp.Execute(ctx, accessibility.CommandGetFullAXTree, nil, &text); err != nil {
			return err
		}
		return json.Unmarshal(text, &tree)
	}))
	for _, n := range tree.Nodes {
		if !n.Ignored {
			list = append(list, Node{fmt.Sprint(n.Role.Value), fmt.Sprint(n.Name.Value)})
		}
	}
	return list, err
}

// look returns what is wrong with how a page looks: text whose contrast is below 4.5,
// or below 3 if it is large (WCAG 2.2, 1.4.3), and a width that needs a scroll bar.
const look = `(() => {
	const wrong = [];
	const root = document.documentElement;
	if (root.scrollWidth > root.clientWidth) wrong.push((root.scrollWidth - root.clientWidth) + " pixels too wide");
	const parse = (c) => c.match(/[\d.]+/g).map(Number);
	const light = (c) => c.slice(0, 3).map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((s, v, i) => s + v * [0.2126, 0.7152, 0.0722][i], 0);
	const behind = (e) => {
		for (; e; e = e.parentElement) {
			const c = parse(getComputedStyle(e).backgroundColor);
			if (c.length < 4 || c[3] > 0) return c;
		}
		return [255, 255, 255];
	};
	for (const e of document.body.querySelectorAll("*")) {
		const text = [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data).join("").trim();
		if (!text || e.tagName === "SCRIPT" || e.getClientRects().length === 0) continue;
		const style = getComputedStyle(e), a = light(parse(style.color)), b = light(behind(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < (parseFloat(style.fontSize) >= 24 ? 3 : 4.5)) wrong.push(ratio.toFixed(1) + ": " + text.slice(0, 40));
	}
	return wrong;
})()`

// Look opens a page at the width of a telephone and of a screen, in light and in dark, and
// fails the test if it scrolls sideways there, or if a text has too little contrast.
func Look(t *testing.T, ctx context.Context, url string) {
	t.Helper()
	for _, width := range []int64{1280, 390} {
		for _, scheme := range []string{"light", "dark"} {
			var wrong []string
			err := chromedp.Run(ctx, chromedp.EmulateViewport(width, 800),
				emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
				chromedp.Navigate(url), chromedp.Evaluate(look, &wrong))
			if err != nil {
				t.Fatal(err)
			}
			if len(wrong) > 0 {
				t.Errorf("%s at %d pixels, %s: %q", url, width, scheme, wrong)
			}
		}
	}
}

// Tab presses the key n times, and returns the names of what has the focus then: the label,
// or the text.
func Tab(ctx context.Context, n int) (names []string, err error) {
	for range n {
		var name string
		const focus = `{ const e = document.activeElement; ([...e.labels?.[0]?.childNodes ?? []].map((n) => n.nodeType === 3 ? n.data : "").join("") || e.ariaLabel || e.textContent).trim() }`
		if err := chromedp.Run(ctx, chromedp.KeyEvent(kb.Tab), chromedp.Evaluate(focus, &name)); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// Sources fails the test unless the policy of a page names the digests of its script and its
// style, and allows nothing else to run.
func Sources(t *testing.T, page string) {
	t.Helper()
	policy := regexp.MustCompile(`http-equiv="Content-Security-Policy" content="[^"]*"`).FindString(page)
	policy = html.UnescapeString(policy)
	for _, kind := range []string{"style", "script"} {
		for _, part := range regexp.MustCompile(`(?s)<`+kind+`>(.*?)</`+kind+`>`).FindAllStringSubmatch(page, -1) {
			sum := sha256.Sum256([]byte(part[1]))
			if want := kind + "-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"; !strings.Contains(policy, want) {
				t.Errorf("the policy has no %s", want)
			}
		}
	}
	if strings.Contains(strings.ReplaceAll(policy, "style-src-attr 'unsafe-inline'", ""), "unsafe-") {
		t.Error("the policy allows what is unsafe")
	}
}
