// Package worker implements both ends of the worker protocol, version 1: Serve is the
// worker's end, Process the harness's.
//
// A worker is a process with the clients of a run. The harness writes requests to its
// standard input and reads answers from its standard output, one flat JSON object a
// line. Its standard error is its log. Each client has one request at a time. A
// complete worker has one client and answers init, acquire, release, read and write;
// everything else is a feature, which it names in its answer to init.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/internal/userlock"
	"github.com/lockcheck/lockcheck/locks"
)

// Protocol is the version of this package.
const Protocol = 1

// Requests beside acquire, try, extend, release, read and write, which package history names.
const (
	OpInit = "init"
	// For FeatureReleaseName: release by name, whatever the client holds. Its errors
	// are those of release.
	OpReleaseName = "release-name"
	OpClock       = "clock"     // answered at once with MonoNS
	OpClockSet    = "clock-set" // set a client's clocks; answered at once
	OpArm         = "arm"       // announce a point of the next operation F; answered at once
	OpClose       = "close"     // the client ends cleanly

	// For FeatureRun. Run is a call of locks.Runner.Run. The worker answers when no
	// call of the critical section is left. Meanwhile come the client's other requests,
	// even another run after an abandon. Abandon is answered at once; only locks whose
	// wait can be cancelled get it.
	OpRun     = "run"
	OpAbandon = "abandon" // the caller of Run no longer waits: its context ends
)

const (
	FeatureToken       = "token"        // grants come with a Token
	FeatureDeadline    = "deadline"     // grants come with ValidMS and MonoNS
	FeatureClock       = "clock"        // knows OpClock; without it the harness ignores deadlines
	FeatureClockSet    = "clock-set"    // knows OpClockSet
	FeaturePoints      = "points"       // knows OpArm
	FeatureReleaseName = "release-name" // knows OpReleaseName
	FeatureUnfair      = "unfair"       // knows Unfair
	FeatureTry         = "try"          // knows a try: an acquire without a wait
	FeatureExtend      = "extend"       // every grant knows an extend
	FeatureRun         = "run"          // its lock calls the critical section itself: OpRun in place of acquire and release
)

// The kinds of targets. Each target is host:port. With masters, the client asks Sentinels
// for them: their answers have the addresses among the targets, too.
const (
	TargetRedis     = "redis"     // each node; with masters: each Redis server
	TargetMasters   = "masters"   // each node, by the Sentinels' name of its master
	TargetSentinels = "sentinels" // each Sentinel
	TargetTokens    = "tokens"    // the server that tokens come from
	TargetZooKeeper = "zookeeper" // each member of the ensemble
	TargetMySQL     = "mysql"     // the MySQL server, or the present primary: user and database lockcheck, no password
)

// Requests of a worker to the harness, for a read or write, or within a run.
const (
	DoRead  = "resource.read"
	DoWrite = "resource.write"
	// DoEnter: the lock calls the critical section, for the Entry-th time in this run
	// (ID). The answer names ID and Entry, and comes when the critical section is over.
	// Reads and writes in it name both, too.
	DoEnter = "enter"
)

const (
	EventAt       = "at"       // a client has reached a point, and waits for Go
	EventExtended = "extended" // the deadline of a grant changed: the lock renewed it, or the client's clocks were set
	EventLost     = "lost"     // the lock noticed that it has lost the lock
	EventQueued   = "queued"   // the store gave the open acquire its place in the queue, Position
)

// Request is a line to a worker: a request (ID and Op), the answer to a Do (ID without
// Op), or the permission to leave a point (Go).
type Request struct {
	ID int64  `json:"id,omitempty"`
	Op string `json:"op,omitempty"`

	// Of init.
	Protocol int                 `json:"protocol,omitempty"`
	Clients  []string            `json:"clients,omitempty"`
	Locks    []string            `json:"locks,omitempty"`
	TTLMS    int64               `json:"ttl_ms,omitempty"`  // T
	Targets  map[string][]string `json:"targets,omitempty"` // the servers, by kind
	Options  map[string]any      `json:"options,omitempty"`

	// Of operations.
	Client    string `json:"client,omitempty"`
	Lock      string `json:"lock,omitempty"`
	TimeoutMS int64  `json:"timeout_ms,omitempty"` // how long the client waits for the answer
	Value     *int64 `json:"value,omitempty"`      // to write; in the answer to a Do: the value read
	Unfair    bool   `json:"unfair,omitempty"`     // of acquire: out of turn
	// Nested, of acquire: the client holds Lock already, and releases the new grant
	// first. Without Nested the client knows of no other grant.
	Nested bool `json:"nested,omitempty"`

	// Within a run.
	Run   int64 `json:"run,omitempty"`   // of read, write, arm and abandon: the ID of the run
	Entry int64 `json:"entry,omitempty"` // of read, write, arm and the answer to enter: which call of the critical section, from 1

	// Of arm: the point before or after a request of the next operation F, or, after an
	// entry, of its release. A run up to its first entry is an acquire.
	F       string `json:"f,omitempty"`
	Request int    `json:"request,omitempty"` // from 1
	Onward  bool   `json:"onward,omitempty"`  // and at each later request; with After it is answers that count
	After   bool   `json:"after,omitempty"`

	// Of clock-set: the error of the wall clock, and how many parts per million of true
	// time both clocks gain from now on.
	SkewNS int64 `json:"skew_ns,omitempty"`
	PPM    int64 `json:"ppm,omitempty"`

	// Of the answer to a Do.
	Result string `json:"result,omitempty"` // "ok": the write was accepted
	Error  string `json:"error,omitempty"`

	Go int64 `json:"go,omitempty"` // the At of the point to leave
}

// Answer is a line from a worker: the answer to a request (ID and OK), a
// request of its own (ID and Do), or an Event.
type Answer struct {
	ID int64 `json:"id,omitempty"`
	OK *bool `json:"ok,omitempty"`

	Name     string   `json:"name,omitempty"`
	Features []string `json:"features,omitempty"`
	Protocol *int     `json:"protocol,omitempty"` // of init, if the worker reports its version
	Entries  []Entry  `json:"entries,omitempty"`  // of init: what the lock keeps in its store

	Token   Token  `json:"token,omitempty"`
	Extends bool   `json:"extends,omitempty"`  // of an acquire: its grant knows an extend
	ValidMS *int64 `json:"valid_ms,omitempty"` // the validity of the grant after MonoNS
	MonoNS  *int64 `json:"mono_ns,omitempty"`  // the worker's monotonic clock when the validity became known
	Value   *int64 `json:"value,omitempty"`

	Error string `json:"error,omitempty"` // one of the words below; any other is uncertain
	Text  string `json:"text,omitempty"`  // for people

	Do    string `json:"do,omitempty"`
	Run   int64  `json:"run,omitempty"`   // of an event within a run: its ID
	Entry int64  `json:"entry,omitempty"` // of enter, and of an event about that grant

	Event   string `json:"event,omitempty"`
	Client  string `json:"client,omitempty"`
	Lock    string `json:"lock,omitempty"`
	At      int64  `json:"at,omitempty"` // numbers the points that a worker announces
	F       string `json:"f,omitempty"`  // the operation, at a point
	Request int    `json:"request,omitempty"`
	After   bool   `json:"after,omitempty"`
	Sends   string `json:"sends,omitempty"` // the command of the request; "": unknown
	Sent    string `json:"sent,omitempty"`  // before the request: the command of the one before, if that was answered

	// Position, of queued, grows with the order of arrival.
	Position *int64 `json:"position,omitempty"`
}

// Token is a fencing token. It is written as a number and may be read from a string,
// because JSON in some languages rounds above 2^53. The largest is 2^63−1.
type Token uint64

// UnmarshalJSON takes a number or a string of digits.
func (t *Token) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseInt(strings.Trim(string(b), `"`), 10, 64)
	if err != nil || n < 0 {
		return fmt.Errorf("token %s: not a number from 0 to 2^63-1", b)
	}
	*t = Token(n)
	return nil
}

// Error words. All are definite except ErrTimeout, ErrUnknown and unlisted words.
// ErrMisuse is no answer of a lock: the worker's own code is wrong, and the run proves
// nothing.
const (
	ErrHeld        = "held"
	ErrNotHeld     = "not-held"
	ErrLost        = "lost"
	ErrStaleToken  = "stale-token"
	ErrUnsupported = "unsupported"
	ErrUnavailable = "unavailable"
	ErrBadRequest  = "bad-request"
	ErrAbort       = "abort"
	ErrMisuse      = "misuse"
	ErrTimeout     = "timeout"
	ErrUnknown     = "unknown"
)

// words pairs errors with their words, for both directions.
var words = []struct {
	err  error
	word string
}{
	{locks.ErrNotAcquired, ErrHeld},
	{locks.ErrNotHeld, ErrNotHeld},
	{locks.ErrLost, ErrLost},
	{env.ErrStaleToken, ErrStaleToken},
	{env.ErrTimeout, ErrTimeout},
}

// wordFor returns the word for an error of a lock.
func wordFor(err error) string {
	for _, w := range words {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	switch {
	case errors.As(err, new(*userlock.Misuse)):
		return ErrMisuse
	case locks.IsDefinite(err):
		return ErrUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	}
	return ErrUnknown
}

// Err returns the error in the answer to an operation; nil: it succeeded.
func (a Answer) Err() error {
	if a.OK != nil && *a.OK {
		return nil
	}
	if a.Error == ErrMisuse {
		return &env.ProtocolError{Misuse: a.Text}
	}
	err := a.meaning()
	if a.Text == "" || a.Text == err.Error() {
		return err
	}
	return &env.Explained{Err: err, Text: a.Text}
}

// meaning returns the error that the answer's word stands for.
func (a Answer) meaning() error {
	for _, w := range words {
		if a.Error == w.word {
			return w.err
		}
	}
	err := errors.New(a.Error)
	switch a.Error {
	case ErrUnsupported, ErrUnavailable, ErrBadRequest, ErrAbort:
		return locks.Definite(err)
	}
	return err
}

// parse reads a worker's line. It returns an error unless the line is an answer, a Do
// or an event.
func parse(line []byte) (a Answer, err error) {
	if err = json.Unmarshal(line, &a); err != nil {
		return a, err
	}
	switch {
	case a.Event != "":
	case a.ID != 0 && (a.Do != "" || a.OK != nil):
	default:
		err = errors.New("neither an answer nor an event")
	}
	return a, err
}
