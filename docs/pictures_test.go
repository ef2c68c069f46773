package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/lockcheck/lockcheck/internal/browsertest"
)

//go:generate go test . -run TestPictures -update

// The pictures of pages in the documentation, each of a real run. -update takes them anew;
// a browser of another version draws other bytes, so these are not compared.
func TestPictures(t *testing.T) {
	t.Parallel()
	ctx := browsertest.Start(t)
	dir := t.TempDir()
	command := filepath.Join(dir, "lockcheck")
	if out, err := exec.Command("go", "build", "-o", command, "../cmd/lockcheck").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, p := range []struct {
		file, line, page, do string
		height               int64
	}{
		{"report.png", "lockcheck case redis-get-del-race", "redis-get-del-race/report.html", `document.querySelector("#next").click()`, 660},
		{"messages.png", "lockcheck case redis-delayed-write", "redis-delayed-write/report.html", `document.querySelector("#showmessages").click()`, 560},
		{"index.png", "lockcheck run redis-set-lua redis-set-get-del --fault pause,kill,delay --seed 1 --runs 200", "index.html", "", 560},
	} {
		carryOut(t, dir, command, p.line)
		var picture []byte
		err := chromedp.Run(ctx, chromedp.EmulateViewport(1280, p.height),
			emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "light"}}),
			chromedp.Navigate("file://"+filepath.Join(dir, "lockcheck-out", p.page)), chromedp.Evaluate(p.do, nil), chromedp.CaptureScreenshot(&picture))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(p.file, picture, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		kept, err := os.ReadFile(p.file)
		if err != nil || len(kept) > 200_000 || !strings.HasPrefix(string(kept), "\x89PNG") || len(picture) > 200_000 {
			t.Errorf("%s: %v, %d bytes, now %d: go test ./docs -run TestPictures -update", p.file, err, len(kept), len(picture))
		}
	}
}
