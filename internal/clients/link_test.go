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

// slow is a server that is reached when reached is closed. It notes the operation of each
// request.
type slow struct {
	Server
	net.Listener
	reached chan struct{}
	ops     chan int64
}

func (s *slow) Name() string { return "slow" }

func (s *slow) Reach(context.Context, string) (Conn, Dialect, error) {
	<-s.reached
	conn, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		return nil, nil, err
	}
	return conn.(*net.TCPConn), &noting{Redis: &Redis{Replies: bufio.NewReader(conn)}, ops: s.ops}, nil
}

type noting struct {
	*Redis
	ops chan int64
}

func (n *noting) Request(r *bufio.Reader, op int64) Parcel {
	n.ops <- op
	return n.Redis.Request(r, op)
}

// A request belongs to the operation in which the client has sent it, even if the server is
// reached in a later one.
func TestRequestsOfNewConnectionsKeepTheirOperation(t *testing.T) {
	t.Parallel()
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	const requests = 100
	far := &slow{Listener: server, reached: make(chan struct{}), ops: make(chan int64, 2*requests)}
	var op atomic.Int64
	l, err := newLink("c1", far, newDisturbances(), &op)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	var conns []net.Conn
	send := func(i int) {
		if _, err := conns[i].Write(Encode("PING")); err != nil {
			t.Fatal(err)
		}
	}
	next := func() {
		if !l.settle() {
			t.Fatal("not settled")
		}
		op.Add(1)
	}
	for i := range requests {
		conn, err := net.Dial("tcp", l.addr())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conns = append(conns, conn)
		send(i)
		next()
	}
	send(0) // the second one on this connection
	next()
	close(far.reached)
	seen := map[int64]int{}
	for range requests + 1 {
		seen[<-far.ops]++
	}
	for i := range int64(requests + 1) {
		if seen[i] != 1 {
			t.Errorf("%d requests in operation %d", seen[i], i)
		}
	}
}
