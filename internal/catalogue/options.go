package catalogue

import (
	"fmt"
	"slices"
	"strings"
)

// Options change a lock or its client library. They are written as
// "token,spin".
type Options struct {
	Token   bool // each grant comes with a fencing token
	Spin    bool // ask again without a wait
	ReuseID bool // one value for all acquisitions of a client
	Claim   bool // recognise the client's own value
	Retries bool // the client library retries, as go-redis does by default

	OwnToken bool // the token comes from a separate server, which no fault touches
	Cap      bool // a watchdog stops renewing after 1.5 T
	ZeroTTL  bool // the lease is 0, by an unnoticed mistake
	Once     bool // nothing renews a lock that its caller has asked for once

	Czxid bool // transaction ids replace sequence numbers

	FixedWait       bool // ask again after a constant wait
	ExponentialWait bool // ask again after a wait that doubles

	TryInTx        bool // callers ask in a transaction that ends with the release
	InTx           bool // callers work in a transaction, and release inside it
	SharedIdentity bool // all clients have the same identity
	WaitTimeout    bool // a session idle for T ends; a heartbeat keeps it
	RowAbsent      bool // the row to lock does not exist
	Autocommit     bool // the callers have not begun a transaction
	ReadCommitted  bool // the isolation level of transactions
}

// Tokens reports whether grants come with fencing tokens.
func (o *Options) Tokens() bool { return o.Token || o.OwnToken }

// Fenced returns o with tokens: the lock's own if it draws some, else those of a
// separate server.
func (o Options) Fenced(lock *Lock) Options {
	switch {
	case o.Tokens():
	case !slices.Contains(lock.Options, "token") && slices.Contains(lock.Options, "token=own"):
		o.OwnToken = true
	default:
		o.Token = true
	}
	return o
}

// Option is one of Options, with the name that people write.
type Option struct {
	Name, Does string
	field      func(*Options) *bool
}

// AllOptions are the options, in the order in which they are written.
var AllOptions = []Option{
	{"token", "draw a fencing token with each grant", func(o *Options) *bool { return &o.Token }},
	{"token=own", "the same, from a server of its own which no fault touches", func(o *Options) *bool { return &o.OwnToken }},
	{"spin", "ask again at once instead of after a random wait", func(o *Options) *bool { return &o.Spin }},
	{"reuse-id", "use one value for all acquisitions of a client", func(o *Options) *bool { return &o.ReuseID }},
	{"claim", "an acquire that finds its own value has acquired", func(o *Options) *bool { return &o.Claim }},
	{"retries", "the client library sends a request again, as go-redis does by default", func(o *Options) *bool { return &o.Retries }},
	{"cap", "a watchdog stops renewing after 1.5 T", func(o *Options) *bool { return &o.Cap }},
	{"ttl=0", "ask for a lease of 0, as a caller may by mistake: go-redis takes it for a key that never expires", func(o *Options) *bool { return &o.ZeroTTL }},
	{"once", "ask for the lock once, as the article's example does, and let no task of ours renew it", func(o *Options) *bool { return &o.Once }},
	{"czxid", "order the queue by the transactions that made its nodes, and draw tokens from them, instead of sequence numbers", func(o *Options) *bool { return &o.Czxid }},
	{"wait=fixed", "ask again after a wait of T/50, which is always the same", func(o *Options) *bool { return &o.FixedWait }},
	{"wait=exponential", "ask again after a random wait that doubles, from T/1000 to T/10", func(o *Options) *bool { return &o.ExponentialWait }},
	{"in-tx", "the caller works in a REPEATABLE READ transaction, and releases inside it", func(o *Options) *bool { return &o.InTx }},
	{"try-in-tx", "the caller asks in a REPEATABLE READ transaction, and works and releases in it", func(o *Options) *bool { return &o.TryInTx }},
	{"identity=shared", "all clients have the same address and thread, as programs behind one address or in containers may", func(o *Options) *bool { return &o.SharedIdentity }},
	{"wait-timeout", "the server ends a session that has been idle for T, and a heartbeat each T/3 keeps it", func(o *Options) *bool { return &o.WaitTimeout }},
	{"row=absent", "lock a row that nobody has made", func(o *Options) *bool { return &o.RowAbsent }},
	{"autocommit", "lock a row outside a transaction", func(o *Options) *bool { return &o.Autocommit }},
	{"read-committed", "transactions are READ COMMITTED instead of REPEATABLE READ", func(o *Options) *bool { return &o.ReadCommitted }},
}

func (o Options) String() string {
	var names []string
	for _, n := range AllOptions {
		if *n.field(&o) {
			names = append(names, n.Name)
		}
	}
	return strings.Join(names, ",")
}

// MarshalText writes options as String does.
func (o Options) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads options as ParseOptions does.
func (o *Options) UnmarshalText(b []byte) (err error) {
	*o, err = ParseOptions(string(b))
	return err
}

// ParseOptions reads what String writes.
func ParseOptions(s string) (Options, error) {
	var o Options
	for name := range strings.SplitSeq(s, ",") {
		if name == "" {
			continue
		}
		i := slices.IndexFunc(AllOptions, func(n Option) bool { return n.Name == name })
		if i < 0 {
			return o, fmt.Errorf("no option %q", name)
		}
		*AllOptions[i].field(&o) = true
	}
	return o, nil
}
