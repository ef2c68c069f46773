package cases

import (
	"path/filepath"
	"testing"

	"github.com/lockcheck/lockcheck/internal/browsertest"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// The first page of a site is readable on every screen, with all cases.
func TestTheFirstPageOfASite(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	all := map[string]siteCase{}
	for _, c := range catalogue.Cases {
		all[c.ID] = siteCase{Case: c, Lock: c.Setup.Lock, Broken: "exclusion", Not: "not as documented", Pages: []sitePage{{"one", "1.html"}, {"two", "2.html"}}}
	}
	text, err := newSite("sim", "", all).html()
	if err != nil {
		t.Fatal(err)
	}
	browsertest.Sources(t, string(text))
	file := filepath.Join(t.TempDir(), "index.html")
	if err := rundir.WriteFile(file, text); err != nil {
		t.Fatal(err)
	}
	browsertest.Look(t, ctx, "file://"+file)
}
