package serve

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/index"
)

// place is a directory below which results are.
type place struct {
	*testing.T
	dir string
	h   *handler
}

func newPlace(t *testing.T) *place {
	t.Helper()
	p := &place{T: t, dir: t.TempDir()}
	h, err := newHandler(p.dir, "lock.example")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.root.Close() })
	p.h = h
	return p
}

// write writes a file below the directory.
func (p *place) write(name, text string) {
	p.Helper()
	file := filepath.Join(p.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		p.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		p.Fatal(err)
	}
}

// result writes the page of a result, of that age.
func (p *place) result(dir string, head index.Head, age time.Duration) {
	p.Helper()
	text, err := (&index.Page{Head: head}).HTML()
	if err != nil {
		p.Fatal(err)
	}
	p.write(filepath.Join(dir, index.File), string(text))
	when := time.Now().Add(-age)
	if err := os.Chtimes(filepath.Join(p.dir, dir, index.File), when, when); err != nil {
		p.Fatal(err)
	}
}

// get asks for a path as localhost, unless host is named.
func (p *place) get(path, host string) *httptest.ResponseRecorder {
	p.Helper()
	r := httptest.NewRequest(http.MethodGet, "http://localhost"+path, nil)
	if host != "" {
		r.Host = host
	}
	w := httptest.NewRecorder()
	p.h.ServeHTTP(w, r)
	return w
}

// stale lets the next list look at the directory again.
func (p *place) stale() { p.h.found.at = time.Time{} }

func held(command string) index.Head { return index.Head{Command: command, Result: "held"} }

func TestTheListHasTheNewestFirst(t *testing.T) {
	p := newPlace(t)
	p.result("a/old", held("suite"), 3*time.Hour)
	p.result("new", index.Head{Command: "run", Arguments: "redlock", Result: "violated", Violated: []string{"exclusion"}, Runs: 1234}, time.Minute)
	p.result("", held("matrix"), time.Hour)
	p.write("foreign/index.html", "<!doctype html><title>coverage</title>")
	p.result(".git", held("suite"), 0)
	page := p.get("/", "").Body.String()
	at := 0
	for _, want := range []string{"1 to 3 of 3", `href="/new/index.html"`, "1,234", "exclusion", `href="/index.html"`, `href="/a/old/index.html"`} {
		i := strings.Index(page[at:], want)
		if i < 0 {
			t.Fatalf("no %s after %d in\n%s", want, at, page[strings.Index(page, "<body>"):])
		}
		at += i
	}
	if strings.Contains(page, "foreign") || strings.Contains(page, ".git") {
		t.Error("pages that are no results are listed")
	}
}

// A page that says that its command is running is touched while it is.
func TestTheListFollowsWhatIsRunning(t *testing.T) {
	p := newPlace(t)
	p.result("suite", index.Head{Command: "suite", Result: index.Running}, time.Second)
	p.result("killed", index.Head{Command: "run", Result: index.Running}, time.Minute)
	first := p.get("/", "").Body.String()
	if !strings.Contains(first, "running") || !strings.Contains(first, "not ended") {
		t.Fatalf("not said:\n%s", first)
	}
	tag := first[strings.Index(first, `data-tag="`)+len(`data-tag="`):]
	tag = tag[:strings.Index(tag, `"`)]
	again := func() int {
		p.stale()
		r := httptest.NewRequest(http.MethodGet, "http://localhost/", nil)
		r.Header.Set("If-None-Match", tag)
		w := httptest.NewRecorder()
		p.h.ServeHTTP(w, r)
		return w.Code
	}
	p.result("suite", index.Head{Command: "suite", Result: index.Running}, 0)
	if code := again(); code != http.StatusNotModified {
		t.Errorf("nothing has changed, and the answer is %d", code)
	}
	p.result("suite", held("suite"), 0)
	if code := again(); code != http.StatusOK {
		t.Errorf("it has ended, and the answer is %d", code)
	}
}

// A page of another site, whose name leads here, reads nothing.
func TestOnlyKnownHostsAreAnswered(t *testing.T) {
	p := newPlace(t)
	p.result("", held("suite"), 0)
	for host, want := range map[string]int{
		"localhost": 200, "localhost:7007": 200, "LOCALHOST:1": 200, "127.0.0.1:7007": 200, "[::1]:7007": 200, "[::1]": 200, "lock.example:7007": 200,
		"evil.example": 403, "localhost.evil.example:7007": 403, "127.0.0.1.nip.io": 403, "192.168.0.7:7007": 403, "[::2]:7007": 403, "localhost:7007:7007": 403,
	} {
		for _, path := range []string{"/", "/index.html"} {
			if got := p.get(path, host).Code; got != want {
				t.Errorf("%s as %s: %d, want %d", path, host, got, want)
			}
		}
	}
}

// No name leads out of the directory, and only files of results are served.
func TestNothingElseIsServed(t *testing.T) {
	p := newPlace(t)
	secret := filepath.Join(t.TempDir(), "away")
	if err := os.MkdirAll(secret, 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(secret, "story.txt"), []byte("SECRET"), 0o666); err != nil {
		t.Fatal(err)
	}
	p.write("run/story.txt", "a story")
	p.write("run/.env", "SECRET")
	p.write("run/id_rsa", "SECRET")
	p.write("odd #1?%2f\"<b>/story.txt", "odd")
	for link, to := range map[string]string{
		"out": secret, "file/story.txt": filepath.Join(secret, "story.txt"), "within": filepath.Join(p.dir, "run"), "inside": "run",
	} {
		link = filepath.Join(p.dir, link)
		if err := os.MkdirAll(filepath.Dir(link), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, link); err != nil {
			t.Fatal(err)
		}
	}
	up := "/../" + filepath.Base(filepath.Dir(secret)) + "/away/story.txt"
	for path, want := range map[string]int{
		"/run/story.txt": 200, "/inside/story.txt": 200, "/odd%20%231%3F%252f%22%3Cb%3E/story.txt": 200,
		"/out/story.txt": 404, "/file/story.txt": 404, "/within/story.txt": 404, "/run/.env": 404, "/run/id_rsa": 404, "/run": 404, "/run/": 404, "/story.txt": 404,
		up: 404, strings.ReplaceAll(up, "..", "%2e%2e"): 404, "/run/..%2frun/story.txt": 404, "/run%2Fstory.txt": 404, "/run%5cstory.txt": 404, "/run/./story.txt": 404,
		"//run/story.txt": 404, "/" + secret + "/story.txt": 404, "/run/story.txt%00": 404, "/run//story.txt": 404,
	} {
		w := p.get(path, "")
		if w.Code != want || strings.Contains(w.Body.String(), "SECRET") {
			t.Errorf("%s: %d, want %d: %s", path, w.Code, want, w.Body)
		}
	}
	r := httptest.NewRequest(http.MethodPost, "http://localhost/", nil)
	w := httptest.NewRecorder()
	if p.h.ServeHTTP(w, r); w.Code != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", w.Code)
	}
}

func TestAnswersHaveTheirHeaders(t *testing.T) {
	p := newPlace(t)
	p.write("run/history.jsonl", "<script>alert(1)</script>")
	for path, want := range map[string]map[string]string{
		"/":                  {"Cache-Control": "no-store", "Content-Type": "text/html; charset=utf-8"},
		"/run/history.jsonl": {"Cache-Control": "no-cache", "Content-Type": "text/plain; charset=utf-8"},
		"/nothing":           {},
	} {
		h := p.get(path, "").Header()
		want["X-Content-Type-Options"] = "nosniff"
		for name, value := range want {
			if got := h.Get(name); got != value {
				t.Errorf("%s: %s is %q, want %q", path, name, got, value)
			}
		}
		if policy := h.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none';") {
			t.Errorf("%s: the policy is %q", path, policy)
		}
	}
}

// Where there are kept runs only, as after a Go test, they are listed.
func TestKeptRunsAreListed(t *testing.T) {
	p := newPlace(t)
	p.write("a/report.html", "<!doctype html>")
	p.write("a/verdict.json", `{"schema":1,"properties":[{"property":"exclusion","outcome":"violated"},{"property":"fencing","outcome":"valid"}]}`)
	p.write("b/report.html", "<!doctype html>")
	p.write("b/verdict.json", `{"schema":1,"properties":[{"property":"exclusion","outcome":"valid"}]}`)
	page := p.get("/", "").Body.String()
	for _, want := range []string{"1 to 2 of 2", `href="/a/report.html"`, "violated", "held", `<option value="runs" selected>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s in\n%s", want, page[strings.Index(page, "<body>"):])
		}
	}
	p.result("suite", held("suite"), 0)
	p.stale()
	if page = p.get("/", "").Body.String(); strings.Contains(page, "/a/report.html") || !strings.Contains(page, "/suite/index.html") {
		t.Error("results are not listed first")
	}
	if page = p.get("/?show=runs", "").Body.String(); !strings.Contains(page, "/a/report.html") {
		t.Error("kept runs are not listed on demand")
	}
}

func TestAnEmptyListSaysHowToMakeAResult(t *testing.T) {
	p := newPlace(t)
	text := p.get("/", "").Body.String()
	for _, want := range []string{"There is nothing yet below", " suite --out " + p.dir} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text[strings.Index(text, "<body>"):])
		}
	}
}

// The end of the context ends serving at once, and leaves nothing.
func TestServingEndsWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	urls, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- Until(ctx, t.TempDir(), "127.0.0.1:0", func(url string) { urls <- url }) }()
	url := <-urls
	open, err := net.Dial("tcp", strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/")) // asks for nothing
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	answer, err := http.Get(url)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatal(answer, err)
	}
	answer.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	start := time.Now()
	cancel()
	if err := <-ended; err != nil || time.Since(start) > time.Second {
		t.Errorf("%v, after %v", err, time.Since(start))
	}
}

func TestWhatCannotBeServedIsExplained(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, c := range []struct {
		dir, addr, words string
		code             int
	}{
		{filepath.Join(dir, "none"), "127.0.0.1:0", "no directory ", exit.Usage},
		{file, "127.0.0.1:0", "is no directory", exit.Usage},
		{dir, "7007", `--addr "7007": want HOST:PORT`, exit.Usage},
		{dir, "127.0.0.1:port", "cannot listen on --addr 127.0.0.1:port", exit.Unavailable},
		{dir, l.Addr().String(), "another program does: name another port", exit.Unavailable},
	} {
		err := Until(t.Context(), c.dir, c.addr, func(string) { t.Error("it serves") })
		if err == nil || !strings.Contains(err.Error(), c.words) || exit.Code(err) != c.code {
			t.Errorf("%s at %s: %v", c.dir, c.addr, err)
		}
	}
}
