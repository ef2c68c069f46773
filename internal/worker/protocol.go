// Package worker is the worker protocol, version 1, both ends: Serve is a
// worker's, Process is the harness's.
//
// A worker is a process that carries the clients of a run. The harness writes
// requests to its standard input and reads answers from its standard output,
// one flat JSON object a line; what it writes to standard error is its log.
// Each client has one request at a time. A worker with one client that answers
// init, acquire, release, read and write is complete; everything else is a
// feature, which it names when it answers init.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/lockcheck/lockcheck/internal/env"
	"github.com/lockcheck/lockcheck/locks"
)

// Protocol is the version that this package speaks.
const Protocol = 1

// The requests that have no name in package history. Acquire, release, read and
// write have.
const (
	OpInit = "init"
	// Of a worker with FeatureReleaseName: release by name, whatever the client
	// holds. Its errors are those of release.
	OpReleaseName = "release-name"
	OpClock       = "clock"     // answered at once with MonoNS
	OpClockSet    = "clock-set" // set a client's clocks; answered at once
	OpArm         = "arm"       // announce a point of the next operation F; answered at once
	OpClose       = "close"     // the client ends in good order

	// Of a worker with FeatureRun. Run is what a locks.Runner does: it is
	// answered when no call of the critical section is left, and the client's
	// other requests come while it is open: also another run, once nobody waits
	// for this one. Abandon is answered at once, and comes only to locks that
	// can be called off.
	OpRun     = "run"
	OpAbandon = "abandon" // the caller of Run waits no longer: its context ends
)

// The features of a worker.
const (
	FeatureToken       = "token"        // grants come with a Token
	FeatureDeadline    = "deadline"     // grants come with ValidMS and MonoNS
	FeatureClock       = "clock"        // knows OpClock, without which a deadline says nothing
	FeatureClockSet    = "clock-set"    // knows OpClockSet
	FeaturePoints      = "points"       // knows OpArm
	FeatureReleaseName = "release-name" // knows OpReleaseName
	FeatureUnfair      = "unfair"       // knows Unfair
	FeatureRun         = "run"          // its lock calls the critical section itself: OpRun in place of acquire and release
)

// The kinds of targets. Where there are masters, the client asks Sentinels who
// they are, and targets of kind redis and sentinels are written LINK=ANNOUNCED:
// what Sentinels call ANNOUNCED, both host:port, is to be reached at LINK.
const (
	TargetRedis     = "redis"     // each node; where there are masters: each Redis server
	TargetMasters   = "masters"   // each node by the name that Sentinels have for its master
	TargetSentinels = "sentinels" // each Sentinel
	TargetTokens    = "tokens"    // the server that tokens come from
	TargetZooKeeper = "zookeeper" // each member of the ensemble
	TargetMySQL     = "mysql"     // the MySQL server, or whichever is the primary now: user and database lockcheck, no password
)

// What a worker asks the harness to do for a read or write, or within a run.
const (
	DoRead  = "resource.read"
	DoWrite = "resource.write"
	// DoEnter: the lock calls the critical section, for the Entry'th time in
	// this run (ID). The answer, which names the same ID and Entry, comes when
	// the critical section is over. Reads and writes in it name both, too.
	DoEnter = "enter"
)

// The events of a worker.
const (
	EventAt       = "at"       // a client has reached a point, and waits for Go
	EventExtended = "extended" // a grant lasts until another instant than was told: it was renewed, or its client's clocks were set
	EventLost     = "lost"     // the lock noticed that it no longer holds
	EventQueued   = "queued"   // the store gave the acquire that is under way its place in the queue, Position
)

// Request is a line to a worker: a request (ID and Op), the answer to a Do (ID
// and no Op), or the word to go on from a point (Go).
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
	TimeoutMS int64  `json:"timeout_ms,omitempty"`
	Value     *int64 `json:"value,omitempty"`  // to write; in the answer to a Do: what was read
	Unfair    bool   `json:"unfair,omitempty"` // of acquire: out of turn
	// Nested, of acquire: the client holds Lock already, and gives back what it
	// gets before that. Without it a client that asks knows of no other grant.
	Nested bool `json:"nested,omitempty"`

	// Of what happens within a run.
	Run   int64 `json:"run,omitempty"`   // of read, write, arm and abandon: the ID of the run
	Entry int64 `json:"entry,omitempty"` // of read, write, arm and the answer to enter: which call of the critical section, from 1

	// Of arm: the point before or after a request of the next operation F, or of
	// what the lock does after an entry, its release. A run up to the first entry
	// is an acquire.
	F       string `json:"f,omitempty"`
	Request int    `json:"request,omitempty"` // from 1
	Onward  bool   `json:"onward,omitempty"`  // and each one after it
	After   bool   `json:"after,omitempty"`

	// Of clock-set: how wrong the wall clock is, and how many parts per million
	// of true time both clocks gain from now on.
	SkewNS int64 `json:"skew_ns,omitempty"`
	PPM    int64 `json:"ppm,omitempty"`

	// Of the answer to a Do.
	Result string `json:"result,omitempty"` // "ok": the write was accepted
	Error  string `json:"error,omitempty"`

	Go int64 `json:"go,omitempty"` // the At of the point that may be left
}

// Answer is a line from a worker: the answer to a request (ID and OK), a
// request of its own (ID and Do), or an Event.
type Answer struct {
	ID int64 `json:"id,omitempty"`
	OK *bool `json:"ok,omitempty"`

	Name     string   `json:"name,omitempty"`
	Features []string `json:"features,omitempty"`
	Protocol *int     `json:"protocol,omitempty"` // of init, if the worker says which version it speaks

	Token   Token  `json:"token,omitempty"`
	ValidMS *int64 `json:"valid_ms,omitempty"` // the grant lasts so long from MonoNS on
	MonoNS  *int64 `json:"mono_ns,omitempty"`  // the worker's monotonic clock when this became known
	Value   *int64 `json:"value,omitempty"`

	Error string `json:"error,omitempty"` // one of the words below, or any other: uncertain
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
	Sent    string `json:"sent,omitempty"`  // before it: the command of the request before, where that was answered

	// Position, of queued, is smaller than those of all who come later.
	Position *int64 `json:"position,omitempty"`
}

// Token is a fencing token. It is written as a number and may be read as a
// string, because JSON in some languages rounds above 2^53. The largest is
// 2^63−1.
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

// The words for definite errors. ErrTimeout and every other word are uncertain.
const (
	ErrHeld        = "held"
	ErrNotHeld     = "not-held"
	ErrLost        = "lost"
	ErrStaleToken  = "stale-token"
	ErrUnsupported = "unsupported"
	ErrUnavailable = "unavailable"
	ErrBadRequest  = "bad-request"
	ErrAbort       = "abort"
	ErrTimeout     = "timeout"
	ErrUnknown     = "unknown"
)

// words are the errors that have a word, in both directions.
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

// wordFor is how an error of a lock is told.
func wordFor(err error) string {
	for _, w := range words {
		if errors.Is(err, w.err) {
			return w.word
		}
	}
	switch {
	case locks.IsDefinite(err):
		return ErrUnavailable
	case errors.Is(err, context.DeadlineExceeded):
		return ErrTimeout
	}
	return ErrUnknown
}

// Err is the error that the answer to an operation tells; nil: it succeeded.
func (a Answer) Err() error {
	if a.OK != nil && *a.OK {
		return nil
	}
	for _, w := range words {
		if a.Error == w.word {
			return w.err
		}
	}
	text := a.Error
	if a.Text != "" {
		text += ": " + a.Text
	}
	err := errors.New(text)
	switch a.Error {
	case ErrUnsupported, ErrUnavailable, ErrBadRequest, ErrAbort:
		return locks.Definite(err)
	}
	return err
}

// parse reads a worker's line. A line that is neither an answer, nor a Do, nor
// an event is an error.
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
