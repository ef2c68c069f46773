package checker

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// story reads a history in a notation that reads like a story. One line is one entry:
//
//	<seconds> <who> <what> [name=value …]
//
// A client's <what> is "acquire", "acquire ok", "acquire fail", "acquire info" and so
// on. <who> is c1 (client c1, process 1), c1' (its next process), nemesis, resource,
// or else a server. Further:
//
//	until=  valid_until, in seconds         token=, value=, was=, error=, lock=, key=, hits=, grant=
//	for=    how long the machine stood still, up to now, in seconds
//	id=     of a fault                      on=     its clients and servers, separated by commas
//	by=     whose last invoke did it        of=     whose last acquire made the entry acted on
//	stands= whose last acquire made the entries that a grant stands on
//	from=   whose last invoke made it       text=   of a promotion: the master before
//
// Lines are numbered from 1. Lines that begin with a dot are about the header:
// ".lease 10s", ".handover 1s", ".order", ".tells", ".nodes 5", ".observes ownership", ".on docker", ".bare"
// (no header). Without them the lease is 10 s and everything is observed.
func story(t testing.TB, text string) *history.History {
	t.Helper()
	s := storyteller{h: &history.History{Header: history.Header{
		Format: history.Format, LeaseMS: 10_000, Observes: []string{"ownership", "answers"},
	}}, procs: map[string]int{}, invokes: map[string]int{}, acquires: map[string]int{}, grants: map[string]int{}}
	for line := range strings.Lines(text) {
		if err := s.line(strings.Fields(line)); err != nil {
			t.Fatalf("%s: %v", strings.TrimSpace(line), err)
		}
	}
	if err := history.Check(s.h); err != nil {
		t.Fatal(err)
	}
	return s.h
}

// Beginnings of many stories. Their lines are numbered like the lines that follow.
const (
	granted1 = `
		0 c1 acquire
		1 c1 acquire ok`
	granted2 = granted1 + `
		1 c2 acquire
		2 c2 acquire ok`
	extended = granted1 + `
		2 c1 extend`
	contended = granted1 + `
		2 c2 acquire`
	paused = contended + `
		3 nemesis pause id=1 on=c1`
	released = contended + `
		3 c1 release`
	freed = granted1 + `
		1 c1 release
		2 c2 acquire`
	leased = `
		0 c1 acquire
		1 c1 acquire ok until=11`
	unsure = `
		0 c1 acquire
		1 c1 acquire info error=timeout grant=7`
	observed = `
		.observes
		0 c1 acquire
		0 c1 acquire ok until=10`
	// A server made an entry for what c1 was granted; entered1 is that of one of several.
	entered = `
		0 c1 acquire
		1 redis grant of=c1 by=c1
		2 c1 acquire ok`
	enteredUntil = `
		0 c1 acquire
		1 redis grant of=c1 by=c1
		2 c1 acquire ok until=11`
	entered1 = `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1
		2 c1 acquire ok until=11`
	// The same with the entry's key.
	keyed = `
		0 c1 acquire
		1 redis grant of=c1 by=c1 key=k
		2 c1 acquire ok`
	keyedReleased = keyed + `
		3 c1 release
		4 c1 release ok`
	keyed1 = `
		0 c1 acquire
		1 redis-1 grant of=c1 by=c1 key=k
		2 c1 acquire ok`
	queued2 = `
		0 c1 acquire
		0 redis grant of=c1 by=c1 key=1
		1 c1 queued
		2 c2 acquire`
)

// takeTurns tells that c2 is granted the lock in each of these seconds, and releases it.
func takeTurns(from, to int) (text string) {
	for at := from; at <= to; at++ {
		text += strings.ReplaceAll("@ c2 acquire\n@ c2 acquire ok\n@ c2 release\n@ c2 release ok\n", "@", strconv.Itoa(at))
	}
	return text
}

type storyteller struct {
	h        *history.History
	procs    map[string]int
	invokes  map[string]int // index of the last invoke
	acquires map[string]int // index of the last acquire's invoke
	grants   map[string]int // the last grant
	grant    int
}

func (s *storyteller) line(words []string) error {
	switch {
	case len(words) == 0:
		return nil
	case words[0][0] == '.':
		return s.option(words)
	}
	at, err := strconv.ParseFloat(words[0], 64)
	if err != nil {
		return err
	}
	e := history.Entry{Index: len(s.h.Entries) + 1, Time: inSeconds(at), F: words[2]}
	who, rest := words[1], words[3:]
	switch {
	case strings.HasPrefix(who, "c"):
		e.Client, e.Process.N = strings.TrimRight(who, "'"), s.process(who)
		e.Type, rest = clientType(e.F, rest)
	case who == history.Nemesis:
		e.Process.Name, e.Type = who, history.Info
	default:
		e.Process.Name, e.Type = who, history.Event
	}
	for _, field := range rest {
		if err := s.field(&e, field); err != nil {
			return err
		}
	}
	s.remember(who, &e)
	s.h.Entries = append(s.h.Entries, e)
	return nil
}

func inSeconds(f float64) time.Duration {
	return time.Duration(f*1e6) * time.Microsecond
}

func (s *storyteller) process(who string) int {
	if s.procs[who] == 0 {
		s.procs[who] = len(s.procs) + 1
	}
	return s.procs[who]
}

func clientType(f string, rest []string) (history.Type, []string) {
	if verbOf(f) == 0 {
		return history.Event, rest
	}
	if len(rest) > 0 {
		for _, typ := range []history.Type{history.OK, history.Fail, history.Info} {
			if rest[0] == typ.String() {
				return typ, rest[1:]
			}
		}
	}
	return history.Invoke, rest
}

// remember stores what later lines refer to, and numbers grants.
func (s *storyteller) remember(who string, e *history.Entry) {
	if !e.Process.Client() {
		return
	}
	acquires := verbOf(e.F) == acquire
	if e.Type == history.Invoke {
		s.invokes[who] = e.Index
		if acquires {
			s.acquires[who] = e.Index
		}
	}
	if acquires && e.Type == history.OK && e.Grant == 0 {
		s.grant++
		e.Grant = s.grant
		s.grants[who] = e.Grant
	}
}

func (s *storyteller) option(words []string) error {
	switch words[0] {
	case ".bare":
		s.h.Header = history.Header{}
	case ".tells":
		s.h.Header.ReleaseTells = true
	case ".order":
		s.h.Header.Order = true
	case ".on":
		s.h.Header.On = words[1]
	case ".nodes":
		s.h.Header.Nodes, _ = strconv.Atoi(words[1])
	case ".observes":
		s.h.Header.Observes = words[1:]
	case ".lease", ".handover":
		d, err := time.ParseDuration(words[1])
		if err != nil {
			return err
		}
		if words[0] == ".lease" {
			s.h.Header.LeaseMS = d.Milliseconds()
		} else {
			s.h.Header.HandoverMS = d.Milliseconds()
		}
	default:
		return fmt.Errorf("no such option")
	}
	return nil
}

func (s *storyteller) field(e *history.Entry, field string) error {
	name, text, _ := strings.Cut(field, "=")
	number, err := strconv.ParseFloat(text, 64)
	switch name {
	case "until":
		e.ValidUntil = inSeconds(number)
	case "token":
		e.Token = uint64(number)
	case "value":
		e.Value = history.Some(int64(number))
	case "was":
		e.Was = history.Some(int64(number))
	case "hits":
		e.Hits = history.Some(int64(number))
	case "id":
		e.ID = int(number)
	case "grant":
		e.Grant = int(number)
	case "for":
		e.Amount = inSeconds(number)
	default:
		err = nil
	}
	switch name {
	case "lock":
		e.Lock = text
	case "key":
		e.Key = text
	case "error":
		e.Error = text
	case "on":
		e.On = strings.Split(text, ",")
	case "text":
		e.Text = text
	case "shared":
		e.Shared = text == "true"
	case "from":
		e.Op = history.Some(int64(s.invokes[text]))
	case "by":
		e.By = history.Some(int64(s.invokes[text]))
	case "stands":
		e.Op = history.Some(int64(s.acquires[text]))
	case "of":
		e.Op = history.Some(int64(s.acquires[text]))
		if s.acquires[text] == s.invokes[text] {
			return err // the ok is on its way
		}
		e.Grant = s.grants[text]
	}
	return err
}
