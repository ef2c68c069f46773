package client_test

import (
	"bufio"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/proto"
)

// fate is a link's treatment of a request.
type fate int

const (
	pass      fate = iota
	swallow        // it never arrives
	loseReply      // it is executed; the answer does not come
	hangUp         // it is executed; the connection is closed in place of the answer
)

// link is a connection to a server of its own that loses messages on request.
type link struct {
	addr   string
	server *miniredis.Miniredis
	decide func(words []string) fate

	listener net.Listener

	mu       sync.Mutex
	requests []string // requests that reached the link, words joined by a blank
	over     []int    // number of the connection of each request
	conns    []net.Conn
	ended    int // closed ones among conns
}

// newLink starts a link. decide returns the fate of each request.
func newLink(t *testing.T, decide func(words []string) fate) *link {
	t.Helper()
	l := &link{server: miniredis.RunT(t), decide: decide}
	listener, wait := acceptAll(t, l.serve)
	l.addr, l.listener = listener.Addr().String(), listener
	t.Cleanup(func() {
		l.cut()
		wait()
	})
	return l
}

// hangUp closes all connections. cut also prevents new ones.
func (l *link) hangUp() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		c.Close()
	}
}

func (l *link) cut() {
	l.listener.Close()
	l.hangUp()
}

// always returns f for every command. The greeting passes.
func always(f fate) func([]string) fate {
	return func(words []string) fate {
		if words[0] == "hello" {
			return pass
		}
		return f
	}
}

// firstOnly returns f for the first command and pass for the others.
func firstOnly(f fate) func([]string) fate {
	var mu sync.Mutex
	return func(words []string) fate {
		mu.Lock()
		defer mu.Unlock()
		if words[0] == "hello" {
			return pass
		}
		now := f
		f = pass
		return now
	}
}

func (l *link) serve(down net.Conn) {
	defer down.Close()
	up, err := net.Dial("tcp", l.server.Addr())
	if err != nil {
		return
	}
	defer up.Close()
	l.mu.Lock()
	number := len(l.conns)
	l.conns = append(l.conns, down)
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.ended++
		l.mu.Unlock()
	}()

	requests, replies := bufio.NewReader(down), bufio.NewReader(up)
	for {
		raw, words, err := readRequest(requests)
		if err != nil {
			return
		}
		l.mu.Lock()
		l.requests, l.over = append(l.requests, strings.Join(words, " ")), append(l.over, number)
		l.mu.Unlock()
		f := l.decide(words)
		if f == swallow {
			continue
		}
		io.WriteString(up, raw)
		reply, err := proto.Read(replies)
		if err != nil {
			return
		}
		switch f {
		case pass:
			io.WriteString(down, reply)
		case hangUp:
			return
		}
	}
}

// seen returns the requests so far, without greetings.
func (l *link) seen() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(l.requests), func(r string) bool { return strings.HasPrefix(r, "hello") })
}

// open returns the number of open connections.
func (l *link) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns) - l.ended
}

// acceptAll serves each connection to a new listener. wait returns when the listener is
// closed and all are served.
func acceptAll(t *testing.T, serve func(net.Conn)) (l net.Listener, wait func()) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { serve(conn) })
		}
	})
	return l, all.Wait
}

// readRequest reads a request, and returns it with its words.
func readRequest(r *bufio.Reader) (raw string, words []string, err error) {
	if raw, err = proto.Read(r); err == nil {
		words, err = proto.ReadStrings(raw)
	}
	return raw, words, err
}
