package docker

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/clients"
)

// feedLimit is how long a server may take to show a command.
const feedLimit = time.Second

// control is our own connection to a server. Several goroutines may call its methods.
type control struct {
	mu      sync.Mutex
	conn    *net.TCPConn
	replies *bufio.Reader
	gate    *gate         // nil: the server is never paused
	limit   time.Duration // for each reply
}

// connect connects to the server behind addr.
func connect(addr string) (*control, error) {
	conn, err := net.DialTimeout("tcp", addr, feedLimit)
	if err != nil {
		return nil, err
	}
	return &control{conn: conn.(*net.TCPConn), replies: bufio.NewReader(conn), limit: feedLimit}, nil
}

func (c *control) close() { c.conn.Close() }

// doAt is do on a new connection to the server behind addr.
func doAt(addr string, words ...string) (string, error) {
	c, err := connect(addr)
	if err != nil {
		return "", err
	}
	defer c.close()
	return c.do(words...)
}

// do sends one command and returns the raw reply. An error reply is an error. While the
// server is paused do waits.
func (c *control) do(words ...string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.conn.SetDeadline(time.Time{})
	for since, asked := time.Now(), false; ; since = time.Now() {
		c.conn.SetDeadline(since.Add(c.limit))
		if !asked {
			if _, err := c.conn.Write(clients.Encode(words...)); err != nil {
				return "", err
			}
			asked = true
		}
		_, err := c.replies.Peek(1)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !c.gate.wasPaused(since) {
			return "", err
		}
	}
	raw, err := clients.ReadReply(c.replies)
	for err == nil && raw[0] == '>' && words[0] != "PSUBSCRIBE" { // a pushed message is no reply, except to PSUBSCRIBE
		raw, err = clients.ReadReply(c.replies)
	}
	if err != nil {
		return "", err
	}
	if raw[0] == '-' {
		return "", errors.New(strings.TrimSpace(string(raw[1:])))
	}
	return string(raw), nil
}

// wallClock returns the server's wall clock, as the time since 1970.
func wallClock(c *control) (time.Duration, error) {
	raw, err := c.do("TIME")
	if err != nil {
		return 0, err
	}
	f := strings.Split(raw, "\r\n")
	if len(f) < 5 {
		return 0, fmt.Errorf("an unexpected answer to TIME: %q", raw)
	}
	seconds, err1 := strconv.ParseInt(f[2], 10, 64)
	micros, err2 := strconv.ParseInt(f[4], 10, 64)
	return time.Duration(seconds)*time.Second + time.Duration(micros)*time.Microsecond, errors.Join(err1, err2)
}
