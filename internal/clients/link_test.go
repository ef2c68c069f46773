package clients

import (
	"bufio"
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// pond is a server whose link is cut while it is being reached. Nothing else of it is
// used.
type pond struct {
	Server
	net.Listener
	link chan *link
}

func (p *pond) Reach(context.Context, string) (Conn, Dialect, error) {
	conn, err := net.Dial("tcp", p.Addr().String())
	(<-p.link).cut()
	if err != nil {
		return nil, nil, err
	}
	return conn.(*net.TCPConn), &MySQL{Replies: bufio.NewReader(conn)}, nil
}

// A cut also resets connections that are being made: none may lead to the old server.
func TestLinkCutsNewConnections(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	far := &pond{Listener: server, link: make(chan *link, 1)}
	l, err := newLink("c1", far, newDisturbances(), new(atomic.Int64))
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	far.link <- l
	conn, err := net.Dial("tcp", l.addr())
	if err == nil {
		defer conn.Close()
		conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		_, err = conn.Read(make([]byte, 1))
	}
	if !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("not reset: %v", err)
	}
}
