package docker

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/clients"
)

// feed reads a server's own reports from one start to its end, on one connection:
// MONITOR, which shows every command with its connection, and notifications, which show
// the changes of keys. Both come on the same connection (which needs version 3 of the
// protocol), so they are in the order of events: changes precede their command, and a
// script's inner commands follow it.
type feed struct {
	ledger  *ledger
	gate    *gate
	stream  *net.TCPConn
	replies *bufio.Reader // of stream
	ended   chan struct{} // closed when all reports of the server are handled

	mu      sync.Mutex
	command *control
	marks   map[string]chan string // get the sender of a mark
	mark    int
	conns   map[string]*pendingRequests // by the client's address that the server sees

	// For the goroutine that reads.
	changes []change // since the last command
	script  *request // the last command outside of a script
}

// pendingRequests are the requests of one connection that the server has not shown yet.
type pendingRequests struct{ requests []*request }

// markPrefix is the prefix of our ECHO words.
const markPrefix = "lockcheck-"

// listen connects to the server behind addr. gate has its pauses. Reports wait until
// begin.
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
		marks: map[string]chan string{}, conns: map[string]*pendingRequests{},
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

// begin starts handling the server's reports.
func (f *feed) begin() { go f.read() }

// close ends a feed that has begun, and waits for its end.
func (f *feed) close() {
	f.command.close()
	f.stream.Close()
	<-f.ended
}

// drain handles the last reports of a server that has ended, and ends the feed.
func (f *feed) drain() {
	if !f.awaitEnd() {
		f.ledger.drop("its connection did not end with the server")
	}
	f.close()
}

// awaitEnd waits for the end of the feed. It returns false after feedLimit.
func (f *feed) awaitEnd() bool {
	select {
	case <-f.ended:
		return true
	case <-time.After(feedLimit):
		return false
	}
}

// read handles the server's reports to their end.
func (f *feed) read() {
	defer close(f.ended)
	for {
		raw, err := clients.ReadReply(f.replies)
		if err != nil {
			return
		}
		switch raw[0] {
		case '+':
			f.addCommand(string(raw[1 : len(raw)-2]))
		case '>':
			if c, ok := notification(raw); ok {
				f.addChange(c)
			}
		}
	}
}

// notification parses a pushed message about a key: the fourth string is the key, and
// the third ends with the event.
func notification(raw []byte) (change, bool) {
	lines := strings.Split(string(raw), "\r\n")
	if len(lines) < 9 || lines[2] != "pmessage" {
		return change{}, false
	}
	_, event, ok := strings.Cut(lines[6], ":")
	key := strings.TrimSuffix(strings.Join(lines[8:], "\r\n"), "\r\n")
	return change{event: event, key: key}, ok
}

// addChange keeps a change for the command that comes next. Expiry and eviction are the
// server's own and belong to no command.
func (f *feed) addChange(c change) {
	if c.event == "expired" || c.event == "evicted" {
		f.ledger.applyOwn(c)
		return
	}
	f.changes = append(f.changes, c)
}

// addCommand handles a line of MONITOR.
func (f *feed) addCommand(line string) {
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
			reached <- source
		}
	}
}

// sender returns the request behind a command; nil: it is not a client's. MONITOR does
// not show requests that the server refused, so sender skips them.
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
	return nil // a password is shown as "(redacted)"; a change by such a request belongs to no operation
}

// expect records that q is about to be sent on a connection that add knows.
func (f *feed) expect(x *pendingRequests, q *request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x.requests = append(x.requests, q)
}

var errFeed = errors.New("the server did not report in time")

// add registers a new connection, before a client's first request on it.
func (f *feed) add(c *control) (*pendingRequests, error) {
	source, err := f.passMark(c)
	if err != nil {
		return nil, err
	}
	x := &pendingRequests{}
	f.mu.Lock()
	f.conns[source] = x
	f.mu.Unlock()
	return x, nil
}

// passMark sends a mark over c, and returns its sender when the feed has reached it.
func (f *feed) passMark(c *control) (source string, err error) {
	reached := make(chan string, 1)
	f.mu.Lock()
	f.mark++
	word := markPrefix + strconv.Itoa(f.mark)
	f.marks[word] = reached
	f.mu.Unlock()
	if _, err := c.do("ECHO", word); err != nil {
		return "", err
	}
	for {
		since := time.Now()
		select {
		case source := <-reached:
			return source, nil
		case <-f.ended:
			return "", errFeed
		case <-time.After(feedLimit):
			if !f.gate.wasPaused(since) {
				return "", errFeed
			}
		}
	}
}

// isOver reports whether the feed has ended.
func (f *feed) isOver() bool {
	select {
	case <-f.ended:
		return true
	default:
		return false
	}
}

// catchUp returns when everything that the server has done until now is handled.
func (f *feed) catchUp() error {
	_, err := f.passMark(f.command)
	return err
}

// feedDelay is how long the feed may be behind a reply before the server is asked. Both
// are sent at the same time.
const feedDelay = 2 * time.Millisecond

// waitShown returns when everything that the server did for q, an answered request, is
// handled. It returns an error if that cannot be known.
func (f *feed) waitShown(q *request) error {
	if !runsScript(q.words) {
		select {
		case <-q.seen:
			return nil
		case <-time.After(feedDelay):
		}
	}
	if err := f.catchUp(); err == nil {
		return nil // a request that is still not shown was refused, and changed nothing
	}
	// The server has ended, or hangs. It writes all reports about one request at once:
	// if the request was shown, so was everything else.
	if !f.awaitEnd() {
		return errFeed
	}
	select {
	case <-q.seen:
		return nil
	default:
		return errFeed
	}
}

// monitorLine parses a line of MONITOR:
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

// request is one request on its way.
type request struct {
	words []string
	op    int64         // index of the operation's invoke; 0: none
	seen  chan struct{} // closed when the server's feed has shown it
}

// runsScript reports whether a request may execute several commands.
func runsScript(words []string) bool {
	return len(words) > 0 && clients.IsOneOf(words[0], "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO")
}
