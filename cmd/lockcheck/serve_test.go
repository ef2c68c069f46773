package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lockcheck/lockcheck/internal/browsertest"
)

// From the list of results two clicks lead to the page of a violation, which shows its
// decisive moment without scrolling. An interrupt is how serve ends.
func TestTwoClicksLeadToTheDecisiveMoment(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "lockcheck.yaml")
	write(t, file, "lockcheck: 1\nseed: 1\nruns: 40\nregressions: "+filepath.Join(dir, "regressions")+`
locks:
  - {lock: redis-set-lua, faults: [kill, pause], promises: [exclusion, ownership]}
`)
	out := filepath.Join(dir, "results")
	lockcheck(t, "suite", file, "--out", filepath.Join(out, "nightly")).wants(t, violated)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	from, to := io.Pipe()
	var stderr bytes.Buffer
	ended := make(chan int, 1)
	go func() {
		ended <- execute(ctx, []string{"serve", out, "--addr", "127.0.0.1:0"}, strings.NewReader(""), to, &stderr)
		to.Close()
	}()
	line, err := bufio.NewReader(from).ReadString('\n')
	url := strings.TrimSpace(line[strings.LastIndex(line, "http"):])
	if err != nil || !strings.HasPrefix(line, "Results below "+out+": http://127.0.0.1:") {
		t.Fatalf("%q, %v", line, err)
	}
	var moment struct {
		Title       string
		Top, Bottom float64
	}
	browser := browsertest.Start(t, url)
	err = chromedp.Run(browser, chromedp.EmulateViewport(1280, 800), chromedp.Navigate(url),
		chromedp.Click("#list a", chromedp.ByQuery), chromedp.WaitVisible("#cells a", chromedp.ByQuery),
		chromedp.Click("#cells a", chromedp.ByQuery), chromedp.WaitVisible("b.both", chromedp.ByQuery),
		chromedp.Evaluate(`(() => { const r = document.querySelector("b.both").getBoundingClientRect(); return { title: document.title, top: r.top, bottom: r.bottom } })()`, &moment))
	if err != nil || moment.Top < 0 || moment.Bottom > 800 || !strings.Contains(moment.Title, "exclusion") {
		t.Errorf("%+v, %v", moment, err)
	}
	cancel()
	if code := <-ended; code != held || stderr.Len() > 0 {
		t.Errorf("exit code %d, and it says %q", code, stderr.String())
	}
}
