package main

import (
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/lockcheck/lockcheck/internal/browsertest"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// The pages of a run show the violation without scrolling: who held at once, the story, and
// what everybody knew.
func TestPagesOfARunShowTheViolation(t *testing.T) {
	ctx := browsertest.Start(t)
	out := t.TempDir()
	lockcheck(t, "run", "redis-set-get-del", "--fault", "pause", "--seed", "1", "--runs", "100", "-q", "--out", out).wants(t, violated)
	pages, _ := filepath.Glob(filepath.Join(out, "*", rundir.PageFile))
	shrunk, _ := filepath.Glob(filepath.Join(out, "*", "*", rundir.PageFile))
	if pages = append(pages, shrunk...); len(pages) < 4 {
		t.Fatalf("pages: %v", pages)
	}
	for _, page := range pages {
		var below []string
		err := chromedp.Run(ctx, chromedp.EmulateViewport(1280, 800), chromedp.Navigate("file://"+page), chromedp.Evaluate(`
			[...document.querySelectorAll("h1, .lanes, #story h2 + p, li.now dl")].filter((e) => e.getBoundingClientRect().bottom > 800).map((e) => e.className || e.tagName)`, &below))
		if err != nil || len(below) > 0 {
			t.Errorf("%s: %v, below the edge: %q", page, err, below)
		}
	}
}
