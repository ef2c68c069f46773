package docker

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// feed is what a server says of itself from one start to its end, on one
// connection: MONITOR, which shows every command with the connection that it
// came on, and notifications, which say what became of keys. Because both come
// on the same connection (which takes version 3 of the protocol), they are in
// the order in which things happened: what a command changed stands just
// before the command, a script's inner commands stand after it.
type feed struct {
	ledger  *ledger
	gate    *gate
	stream  *net.TCPConn
	replies *bufio.Reader // of stream
	ended   chan struct{} // closed when all that the server said is handled

	mu      sync.Mutex
	command *control
	marks   map[string]func(source string)
	mark    int
	conns   map[string]*expected // by the client's address, as the server sees it

	// Of the goroutine that reads.
	changes []change // since the last command
	script  *request // the last command that was no script's
}

// expected are the requests of one connection that the server has not shown.
type expected struct{ requests []*request }

// feedLimit is how long a server may take to show what it has done.
const feedLimit = time.Second

// markPrefix begins the word that an ECHO of ours carries.
const markPrefix = "lockcheck-"

// listen connects to the server behind addr, which stands still as gate says.
// What that says waits until begin.
func listen(addr string, l *ledger, g *gate) (*feed, error) {
	command, err := connect(addr)
	if err != nil {
		return nil, err
	}
	command.gate = g
	stream, err := connect(addr)
	if err != nil {
		command.close()
		return nil, err
	}
	f := &feed{
		ledger: l, gate: g, stream: stream.conn, replies: stream.replies, command: command, ended: make(chan struct{}),
		marks: map[string]func(string){}, conns: map[string]*expected{},
	}
	stream.gate = g
	for _, words := range [][]string{{"HELLO", "3"}, {"PSUBSCRIBE", "__keyevent@0__:*"}, {"MONITOR"}} {
		if _, err := stream.do(words...); err != nil {
			f.stream.Close()
			command.close()
			return nil, fmt.Errorf("listen to the server: %w", err)
		}
	}
	return f, nil
}

// begin begins to handle what the server says.
func (f *feed) begin() { go f.read() }

// close ends the feed, which has begun, and waits for its end.
func (f *feed) close() {
	f.command.close()
	f.stream.Close()
	<-f.ended
}

// drain handles what a server that has ended still said, and ends the feed.
func (f *feed) drain() {
	timer := time.NewTimer(feedLimit)
	defer timer.Stop()
	select {
	case <-f.ended:
	case <-timer.C:
		f.ledger.drop("its connection did not end with it")
	}
	f.close()
}

// read handles what the server says, until it ends.
func (f *feed) read() {
	defer close(f.ended)
	for {
		raw, err := readReply(f.replies)
		if err != nil {
			return
		}
		switch raw[0] {
		case '+':
			f.executed(string(raw[1 : len(raw)-2]))
		case '>':
			if c, ok := notification(raw); ok {
				f.changed(c)
			}
		}
	}
}

// notification is what a pushed message says of a key: the fourth string names
// it, and the third ends with what happened.
func notification(raw []byte) (change, bool) {
	lines := strings.Split(string(raw), "\r\n")
	if len(lines) < 9 || lines[2] != "pmessage" {
		return change{}, false
	}
	_, event, ok := strings.Cut(lines[6], ":")
	key := strings.TrimSuffix(strings.Join(lines[8:], "\r\n"), "\r\n")
	return change{event: event, key: key}, ok
}

// changed keeps a change for the command that comes next; what the server
// does by itself belongs to none.
func (f *feed) changed(c change) {
	if c.event == "expired" || c.event == "evicted" {
		f.ledger.own(c)
		return
	}
	f.changes = append(f.changes, c)
}

// executed handles a line of MONITOR.
func (f *feed) executed(line string) {
	at, source, words, err := monitorLine(line)
	if err != nil {
		f.ledger.drop("%v", err)
		return
	}
	changes := f.changes
	f.changes = nil
	if source == "lua" {
		f.ledger.apply(act{by: f.script, at: at, words: words, script: true}, changes)
		return
	}
	f.script = f.sender(source, words)
	f.ledger.apply(act{by: f.script, at: at, words: words}, changes)
	if f.script != nil {
		close(f.script.seen)
	}
	if len(words) == 2 && strings.EqualFold(words[0], "ECHO") {
		f.mu.Lock()
		reached := f.marks[words[1]]
		delete(f.marks, words[1])
		f.mu.Unlock()
		if reached != nil {
			reached(source)
		}
	}
}

// sender is the request behind a command; nil: none of a client's. Requests
// that the server refused without executing them are not shown, and passed by.
func (f *feed) sender(source string, words []string) *request {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.conns[source]
	if x == nil {
		return nil
	}
	for i, q := range x.requests {
		if slices.Equal(q.words, words) {
			x.requests = x.requests[i+1:]
			return q
		}
	}
	return nil // a password is shown as "(redacted)"; a change by such a request is nobody's
}

// expect notes that q is about to be sent on a connection that add knows.
func (f *feed) expect(x *expected, q *request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x.requests = append(x.requests, q)
}

// await returns the word of a new mark, and a channel that gets who sent it
// when the feed has reached it.
func (f *feed) await() (word string, reached <-chan string) {
	ch := make(chan string, 1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.mark++
	word = markPrefix + strconv.Itoa(f.mark)
	f.marks[word] = func(source string) { ch <- source }
	return word, ch
}

var errFeed = errors.New("the server did not show in time what it does")

// add makes the feed know a new connection, over which nothing of a client's
// has been sent yet.
func (f *feed) add(c *control) (*expected, error) {
	word, reached := f.await()
	if _, err := c.do("ECHO", word); err != nil {
		return nil, err
	}
	source, err := f.wait(reached)
	if err != nil {
		return nil, err
	}
	x := &expected{}
	f.mu.Lock()
	f.conns[source] = x
	f.mu.Unlock()
	return x, nil
}

func (f *feed) wait(reached <-chan string) (string, error) {
	for {
		since := time.Now()
		timer := time.NewTimer(feedLimit)
		select {
		case source := <-reached:
			timer.Stop()
			return source, nil
		case <-f.ended:
			timer.Stop()
			return "", errFeed
		case <-timer.C:
			if !f.gate.still(since) {
				return "", errFeed
			}
		}
	}
}

// over tells whether the feed has ended.
func (f *feed) over() bool {
	select {
	case <-f.ended:
		return true
	default:
		return false
	}
}

// catchUp returns when everything that the server has done until now is
// handled.
func (f *feed) catchUp() error {
	word, reached := f.await()
	if _, err := f.command.do("ECHO", word); err != nil {
		return err
	}
	_, err := f.wait(reached)
	return err
}

// quickly is how long the feed may be behind a reply before it is asked. They
// are sent at the same time.
const quickly = 2 * time.Millisecond

// shown returns when all that the server did for q, which it has answered, is
// handled. The error is that this cannot be told.
func (f *feed) shown(q *request) error {
	if !runsScript(q.words) {
		timer := time.NewTimer(quickly)
		defer timer.Stop()
		select {
		case <-q.seen:
			return nil
		case <-timer.C:
		}
	}
	if err := f.catchUp(); err == nil {
		return nil // a request that is not shown even now was refused, and changed nothing
	}
	// The server has ended, or hangs. What it shows of one request it writes at
	// once: if it showed the request, it has shown all.
	timer := time.NewTimer(feedLimit)
	defer timer.Stop()
	select {
	case <-f.ended:
	case <-timer.C:
		return errFeed
	}
	select {
	case <-q.seen:
		return nil
	default:
		return errFeed
	}
}

// monitorLine reads a line of MONITOR:
//
//	1339518083.107412 [0 127.0.0.1:60866] "set" "k" "a\"b\x00"
func monitorLine(line string) (at time.Duration, source string, words []string, err error) {
	bad := fmt.Errorf("not a line of MONITOR: %q", line)
	stamp, rest, ok := strings.Cut(line, " [")
	head, args, ok2 := strings.Cut(rest, "] ")
	_, source, ok3 := strings.Cut(head, " ")
	seconds, micros, ok4 := strings.Cut(stamp, ".")
	if !ok || !ok2 || !ok3 || !ok4 {
		return 0, "", nil, bad
	}
	s, err1 := strconv.ParseInt(seconds, 10, 64)
	us, err2 := strconv.ParseInt(micros, 10, 64)
	if err1 != nil || err2 != nil {
		return 0, "", nil, bad
	}
	at = time.Duration(s)*time.Second + time.Duration(us)*time.Microsecond
	for args != "" {
		quoted, err := strconv.QuotedPrefix(args)
		if err != nil {
			return 0, "", nil, bad
		}
		word, err := strconv.Unquote(quoted)
		if err != nil {
			return 0, "", nil, bad
		}
		words = append(words, word)
		args = strings.TrimPrefix(args[len(quoted):], " ")
	}
	return at, source, words, nil
}

// control is a connection of ours to a server. Its methods may be called by
// several goroutines.
type control struct {
	mu      sync.Mutex
	conn    *net.TCPConn
	replies *bufio.Reader
	gate    *gate         // nil: the server never stands still
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

// do sends one command and returns the reply as it came. An error of the
// server's is an error. While the server stands still it waits.
func (c *control) do(words ...string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.conn.SetDeadline(time.Time{})
	for since, asked := time.Now(), false; ; since = time.Now() {
		c.conn.SetDeadline(since.Add(c.limit))
		if !asked {
			if _, err := c.conn.Write(encode(words...)); err != nil {
				return "", err
			}
			asked = true
		}
		_, err := c.replies.Peek(1)
		if err == nil {
			break
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) || !c.gate.still(since) {
			return "", err
		}
	}
	raw, err := readReply(c.replies)
	for err == nil && raw[0] == '>' && words[0] != "PSUBSCRIBE" { // what is pushed answers nothing else
		raw, err = readReply(c.replies)
	}
	if err != nil {
		return "", err
	}
	if raw[0] == '-' {
		return "", errors.New(strings.TrimSpace(string(raw[1:])))
	}
	return string(raw), nil
}
