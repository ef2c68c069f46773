package bubble

import (
	"crypto/sha1"
	"fmt"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/internal/sim"
	"github.com/lockcheck/lockcheck/internal/stores/redis/wire"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/model"
	zkwire "github.com/lockcheck/lockcheck/internal/stores/zookeeper/wire"
)

// codec cuts the bytes of a connection into requests, and makes bytes of answers.
type codec interface {
	take(data []byte, ask func(sim.WireRequest)) error
	answer(sim.WireAnswer) []byte
}

// redisCodec is that of Redis. Its servers answer in bytes.
type redisCodec struct{ parser wire.Parser }

func (c *redisCodec) take(data []byte, ask func(sim.WireRequest)) error {
	c.parser.Feed(data)
	for {
		words, ok, err := c.parser.Next()
		if err != nil || !ok {
			return err
		}
		ask(sim.WireRequest{Name: command(words), Library: wire.IsHandshake(words), Words: words})
	}
}

func (c *redisCodec) answer(a sim.WireAnswer) []byte { return a.Data }

// command is a Redis command.
type command []string

// String returns its name.
func (c command) String() string { return strings.ToUpper(c[0]) }

// Form implements sim.Command: a script is told from others by its text, and other commands
// by conditions such as NX.
func (c command) Form() string {
	name := c.String()
	if strings.HasPrefix(name, "EVAL") && len(c) > 1 {
		return fmt.Sprintf("%s %x", name, sha1.Sum([]byte(c[1])))
	}
	for i := 3; i < len(c); i++ {
		if word := strings.ToUpper(c[i]); slices.Contains([]string{"NX", "XX", "GT", "LT"}, word) {
			name += " " + word
		}
	}
	return name
}

// formOf returns the form of any command.
func formOf(name fmt.Stringer) string {
	if c, ok := name.(sim.Command); ok {
		return c.Form()
	}
	return name.String()
}

// zkCodec is that of ZooKeeper. Requests are answered in order.
type zkCodec struct {
	server string
	parser zkwire.Parser
	asked  []zkRequest
}

// zkRequest is a request without an answer.
type zkRequest struct {
	zkwire.Request
	invalid bool // it is answered with BadArguments
}

func (c *zkCodec) take(data []byte, ask func(sim.WireRequest)) error {
	c.parser.Feed(data)
	for {
		r, ok, err := c.parser.Next()
		if err != nil || !ok {
			return err
		}
		q := sim.WireRequest{Library: true}
		x := zkRequest{Request: r}
		switch r.Kind {
		case zkwire.Hello:
			q.Hello = &sim.WireHello{Session: r.Session, Length: r.Length, Zxid: r.Zxid}
		case zkwire.Call:
			q.Library, q.Name, q.Command = false, r.Command.Verb, r.Command
			if x.invalid = !model.Valid(r.Command); x.invalid {
				q = sim.WireRequest{Library: true, Ping: true}
			}
		case zkwire.Farewell:
			q.Close = true
		case zkwire.SetWatches:
			q.Rewatch, q.Watches, q.Zxid = true, r.Watches, r.Zxid
		case zkwire.Unknown:
			return lacks(r.Missing, c.server)
		default: // the answer does not depend on the server
			q.Ping = true
		}
		c.asked = append(c.asked, x)
		ask(q)
	}
}

func (c *zkCodec) answer(a sim.WireAnswer) []byte {
	if a.Event.Type != 0 {
		return zkwire.AppendEvent(nil, a.Event)
	}
	r := c.asked[0]
	c.asked = c.asked[1:]
	switch {
	case r.Kind == zkwire.Hello && a.Ended:
		return zkwire.AppendHello(nil, 0, make([]byte, 16), 0)
	case r.Kind == zkwire.Hello:
		return zkwire.AppendHello(nil, a.Session, zkwire.Password(a.Session), a.Length)
	case a.Ended:
		a.Reply = zookeeper.Reply{Code: zkwire.SessionExpired}
	case r.invalid:
		a.Reply = zookeeper.Reply{Code: zookeeper.BadArguments}
	}
	return zkwire.AppendAnswer(nil, &r.Request, a.Zxid, a.Reply)
}
