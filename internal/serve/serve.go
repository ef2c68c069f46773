// Package serve shows the pages of all results below a directory in a browser. It serves
// a list and the files of the results. The list follows commands that are under way.
package serve

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/report"
)

// Until serves the results below a directory at an address, HOST:PORT, until ctx ends;
// then it returns nil. It calls ready with the URL of the list. It returns an error for
// the user if the directory is missing, or if it cannot listen on the address.
func Until(ctx context.Context, dir, addr string, ready func(url string)) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return exit.Errorf(exit.Usage, "--addr %q: want HOST:PORT, as 127.0.0.1:7007", addr)
	}
	h, err := newHandler(dir, host)
	if err != nil {
		return err
	}
	defer h.root.Close()
	l, err := net.Listen("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return exit.Errorf(exit.Unavailable, "cannot listen on %s: another program does: name another port, or port 0 for a free one: --addr %s", addr, net.JoinHostPort(host, "0"))
	case err != nil:
		return exit.Errorf(exit.Unavailable, "cannot listen on --addr %s: %w", addr, err)
	}
	s := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	stop := context.AfterFunc(ctx, func() { s.Close() })
	defer stop()
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	ready("http://" + net.JoinHostPort(host, port) + "/")
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return exit.Errorf(exit.Unavailable, "cannot go on serving: %w", err)
	}
	return nil
}

// handler answers requests. It opens files in its root only, which no link leads out of.
type handler struct {
	dir   string // as it was named
	root  *os.Root
	hosts []string
	found finder
}

func newHandler(dir, host string) (*handler, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, exit.Errorf(exit.Usage, "no directory %s: name the --out of a suite or a run, as: lockcheck serve lockcheck-out", dir)
	case err == nil && !info.IsDir():
		return nil, exit.Errorf(exit.Usage, "%s is no directory: name the directory that it is in", dir)
	}
	root, err := os.OpenRoot(dir)
	real, unreal := filepath.EvalSymlinks(dir) // a link to the directory may be named
	if err = cmp.Or(err, unreal); err != nil {
		return nil, exit.Errorf(exit.Usage, "cannot read %s: %w", dir, rundir.WithoutPath(err))
	}
	return &handler{
		dir: dir, root: root, found: finder{dir: real, root: root},
		hosts: []string{"localhost", "127.0.0.1", "::1", strings.ToLower(host)},
	}, nil
}

// The policies of pages: nothing is loaded. The list may also ask for itself.
var (
	filePolicy = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
	listPolicy = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " + report.Inline(listJS) + "; connect-src 'self'; img-src data:"
)

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range map[string]string{
		"Content-Security-Policy": filePolicy, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Resource-Policy": "same-origin", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-cache",
	} {
		w.Header().Set(name, value)
	}
	switch {
	case !h.knows(r.Host):
		http.Error(w, "This address is not served. Name its host with --addr, or use localhost.", http.StatusForbidden)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "Pages can only be read.", http.StatusMethodNotAllowed)
	case r.URL.Path == "/":
		h.list(w, r)
	default:
		h.file(w, r)
	}
}

// knows reports whether requests for a host are answered. Another site must not read
// results by a name that leads to this machine (DNS rebinding).
func (h *handler) knows(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"))
	return host != "" && slices.Contains(h.hosts, host)
}

// served returns the type of a file that is served, or "".
func served(name string) string {
	switch {
	case slices.Contains(index.Files, name), name == rundir.PageFile:
		return "text/html; charset=utf-8"
	case name == results.File, name == rundir.VerdictFile, name == rundir.ScheduleFile:
		return "application/json"
	case slices.Contains(rundir.Files, name):
		return "text/plain; charset=utf-8"
	}
	return ""
}

// file answers with a file of a result. It finds no other file.
func (h *handler) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/")
	kind := served(path.Base(name))
	encoded := strings.ToLower(r.URL.EscapedPath())
	if kind == "" || !fs.ValidPath(name) || strings.ContainsAny(name, "\\\x00") || strings.Contains(encoded, "%2f") {
		http.NotFound(w, r)
		return
	}
	info, err := h.root.Stat(name)
	if err != nil || !info.Mode().IsRegular() { // to open a pipe would wait for its writer
		http.NotFound(w, r)
		return
	}
	f, err := h.root.Open(name)
	if err != nil {
		http.NotFound(w, r)
		return
	}
	defer f.Close()
	w.Header().Set("Content-Type", kind)
	http.ServeContent(w, r, "", info.ModTime(), f)
}
