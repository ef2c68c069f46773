package client

import goredis "github.com/redis/go-redis/v9"

// patience divides the timeout of a dial, which is Options.Timeout, into the timeouts
// of Sentinels. go-redis asks its known Sentinel twice and then all at once, so it
// skips a hanging one within one dial.
const patience = 4

// failover returns go-redis's client for the present master. It asks a Sentinel
// for the master for each new connection, and subscribes to one. At
// +switch-master it closes the connections to the old master, including those
// with a request under way, whose outcome is then uncertain.
//
// The rules of one server apply: a command is sent once, and an error is definite
// exactly if the command was not sent, even if a Sentinel was unreachable.
func (c *Client) failover() *goredis.Client {
	o := c.library().Failover()
	o.MasterName, o.SentinelAddrs, o.Dialer = c.options.Master, c.options.Sentinels, c.dial
	o.DialTimeout = c.options.Timeout
	o.ReadTimeout = o.DialTimeout / patience // for Sentinels
	o.WriteTimeout = o.ReadTimeout
	// For the server a call's context has the deadline. That is 0 here, and -1 in
	// options; with -1 a read would never end.
	return goredis.NewFailoverClient(o).WithTimeout(0)
}
