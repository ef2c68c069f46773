package external

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"net"
	"sync"

	"github.com/lockcheck/lockcheck/internal/clients"
)

// MySQL begins without TLS: the server greets, and the client asks for TLS before it says
// who it is. secureMySQL asks in place of the client, which has a plain connection to the
// link. The request for TLS is a packet of its own, so until the server has accepted the
// client, packets have other numbers on both sides.
//
// Source: MariaDB, "Clients & Utilities, Connection".
type secureMySQL struct {
	*net.TCPConn
	settings *tls.Config
	replies  *bufio.Reader // of the server before TLS, and after
	pending  []byte        // of a packet, which the client has not read yet
	accepted bool          // the server has accepted or refused the client; for the goroutine that reads

	once   sync.Once
	ready  chan struct{} // closed when TLS has begun, or failed
	ended  context.Context
	end    context.CancelFunc
	secure *tls.Conn
	err    error // of TLS; once ready is closed

	mu     sync.Mutex
	inside bool // the server has accepted the client
}

const (
	wantsTLS    = 1 << 11 // CLIENT_SSL
	headOfLogin = 32      // bytes of a client's first packet that the request for TLS has, too
)

var errNoTLS = errors.New("the MySQL server does not offer TLS")

// reachMySQL connects to a MySQL server.
func (s *server) reachMySQL(ctx context.Context) (clients.Conn, error) {
	conn, err := s.dial(ctx)
	if err != nil || s.tls == nil {
		return conn, err
	}
	m := &secureMySQL{TCPConn: conn, settings: s.tls, replies: bufio.NewReader(conn), ready: make(chan struct{})}
	m.ended, m.end = context.WithCancel(context.Background())
	raw, body, err := clients.ReadMySQL(m.replies)
	if err == nil && len(body) > 0 && body[0] != 0xff { // it may refuse connections
		err = withoutTLS(body)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	m.pending = raw
	return m, nil
}

// withoutTLS takes the offer of TLS out of a greeting.
func withoutTLS(greeting []byte) error {
	at := bytes.IndexByte(greeting, 0) + 1 + 4 + 8 + 1 // after the version, the connection's number, the first half of the salt and a zero
	if at < 14 || len(greeting) < at+2 {
		return errors.New("not the protocol of MySQL")
	}
	can := binary.LittleEndian.Uint16(greeting[at:])
	if can&wantsTLS == 0 {
		return errNoTLS
	}
	binary.LittleEndian.PutUint16(greeting[at:], can&^wantsTLS)
	return nil
}

// Read reads the greeting, and from then on what comes through TLS.
func (m *secureMySQL) Read(b []byte) (int, error) {
	if len(m.pending) == 0 {
		select {
		case <-m.ready:
		case <-m.ended.Done():
			return 0, net.ErrClosed
		}
		if m.err != nil {
			return 0, m.err
		}
		if m.accepted {
			return m.replies.Read(b)
		}
		raw, body, err := clients.ReadMySQL(m.replies)
		if err != nil {
			return 0, err
		}
		raw[clients.MySQLHead-1]--
		if m.accepted = len(body) > 0 && (body[0] == 0 || body[0] == 0xff); m.accepted {
			m.mu.Lock()
			m.inside = true
			m.mu.Unlock()
		}
		m.pending = raw
	}
	n := copy(b, m.pending)
	m.pending = m.pending[n:]
	return n, nil
}

// Write writes one packet of the client. The first is the login: TLS begins before it.
func (m *secureMySQL) Write(packet []byte) (int, error) {
	m.once.Do(func() {
		m.err = m.begin(packet)
		close(m.ready)
	})
	if m.err != nil {
		m.TCPConn.Close()
		return 0, m.err
	}
	m.mu.Lock()
	inside := m.inside
	m.mu.Unlock()
	if !inside && len(packet) >= clients.MySQLHead {
		packet = bytes.Clone(packet)
		if packet[clients.MySQLHead-1]++; packet[clients.MySQLHead-1] == 2 && len(packet) >= clients.MySQLHead+4 {
			packet[clients.MySQLHead+1] |= wantsTLS >> 8
		}
	}
	return m.secure.Write(packet)
}

// begin asks for TLS with the head of the client's login.
func (m *secureMySQL) begin(login []byte) error {
	if len(login) < clients.MySQLHead+headOfLogin {
		return errors.New("not the protocol of MySQL")
	}
	request := bytes.Clone(login[:clients.MySQLHead+headOfLogin])
	request[0], request[1], request[2] = headOfLogin, 0, 0
	request[clients.MySQLHead+1] |= wantsTLS >> 8
	if _, err := m.TCPConn.Write(request); err != nil {
		return err
	}
	m.secure = tls.Client(m.TCPConn, m.settings)
	ctx, cancel := context.WithTimeout(m.ended, answerLimit)
	defer cancel()
	if err := m.secure.HandshakeContext(ctx); err != nil {
		return err
	}
	m.replies = bufio.NewReader(m.secure)
	return nil
}

// NetConn returns the connection below TLS.
func (m *secureMySQL) NetConn() net.Conn {
	m.end()
	return m.TCPConn
}

// Close closes the connection.
func (m *secureMySQL) Close() error {
	m.end()
	return m.TCPConn.Close()
}
