package client

import (
	"context"
	"fmt"
	"net"

	goredis "github.com/redis/go-redis/v9"
)

// patience is how often what a Sentinel may take to answer goes into
// DialTimeout. go-redis asks the one that it knows twice, and then all at once:
// one that hangs is passed over within one dial.
const patience = 4

// failover is go-redis's client for whoever is master. It asks a Sentinel for
// the master whenever it connects, and listens to one: at +switch-master it
// closes the connections to the old master, also those with a request under
// way, whose answer is then uncertain.
//
// What holds for plain holds here: what is sent is sent once, and an error is
// definite exactly if it was not sent, whoever could not be reached.
func (c *Client) failover() *goredis.Client {
	ask := c.options.DialTimeout / patience
	conns := goredis.NewFailoverClient(&goredis.FailoverOptions{
		MasterName:            c.options.Master,
		SentinelAddrs:         c.options.Sentinels,
		Dialer:                c.dialAnnounced,
		DialTimeout:           c.options.DialTimeout,
		DialerRetries:         1,
		MaxRetries:            maxRetries(c.options.Retries),
		ReadTimeout:           ask, // of Sentinels
		WriteTimeout:          ask,
		ContextTimeoutEnabled: true,
		Protocol:              2,
		DisableIdentity:       true,
		PoolSize:              poolSize,
		PipelinePoolSize:      -1,
		ReadBufferSize:        4096,
		WriteBufferSize:       4096,
	})
	// Of the server: a call's context says how long. That is 0 here, where options
	// say -1; with -1 nothing would end a read.
	return conns.WithTimeout(0)
}

// dialAnnounced connects to an address that a Sentinel has announced.
func (c *Client) dialAnnounced(ctx context.Context, network, addr string) (net.Conn, error) {
	if c.options.Links == nil {
		return c.dial(ctx, network, addr)
	}
	link, ok := c.options.Links[addr]
	if !ok {
		return nil, fmt.Errorf("redis client: no link to %s", addr)
	}
	conn, err := c.dial(ctx, network, link)
	if tcp, ok := conn.(*net.TCPConn); ok {
		return announced{tcp, address(addr)}, err
	}
	return conn, err
}

// announced is a connection that says that it leads to where its link does: so
// go-redis knows which ones lead to an old master.
type announced struct {
	*net.TCPConn
	to address
}

func (a announced) RemoteAddr() net.Addr { return a.to }

// address is a host:port.
type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }
