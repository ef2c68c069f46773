package client_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/alicebob/miniredis/v2"
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
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.addr, l.listener = listener.Addr().String(), listener
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { l.serve(conn) })
		}
	})
	t.Cleanup(func() {
		l.cut()
		wg.Wait()
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
		var raw bytes.Buffer
		words, err := readValue(requests, &raw)
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
		up.Write(raw.Bytes())
		raw.Reset()
		if _, err := readValue(replies, &raw); err != nil {
			return
		}
		switch f {
		case pass:
			down.Write(raw.Bytes())
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

// readValue reads one RESP value into raw, and returns its strings in order.
func readValue(r *bufio.Reader, raw *bytes.Buffer) ([]string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return nil, err
	}
	raw.WriteString(line)
	text := strings.TrimSpace(line[1:])
	switch line[0] {
	case '$':
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return nil, err
		}
		data := make([]byte, n+2)
		if _, err := io.ReadFull(r, data); err != nil {
			return nil, err
		}
		raw.Write(data)
		return []string{string(data[:n])}, nil
	case '*':
		n, err := strconv.Atoi(text)
		var words []string
		for i := 0; i < n && err == nil; i++ {
			var w []string
			w, err = readValue(r, raw)
			words = append(words, w...)
		}
		return words, err
	case '+', '-', ':':
		return []string{text}, nil
	}
	return nil, fmt.Errorf("no RESP: %q", line)
}
