// Package workercheck has a scripted conversation with a user's worker, and explains each
// message that is wrong.
package workercheck

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/worker"
)

// Options are settings of a conversation.
type Options struct {
	Command []string
	Store   string        // the kind of servers, as workers call it
	Servers int           // how many Redis servers there are; 0: no server at all
	Lease   time.Duration // T
	Out     io.Writer
}

// Sections of docs/worker.md.
const (
	protocol = "The protocol"
	entries  = "Entries"
	meaning  = "The meaning of an answer"
	ending   = "The end"
)

// patience is how long an answer may take beyond the timeout of its request.
const patience = 5 * time.Second

// timeout is the timeout of an operation.
const timeout = 5 * time.Second

// lockName is the lock of the conversation.
const lockName = "a"

// Run has the conversation. It returns how many messages were wrong, and an error if the
// worker cannot be started.
func Run(o Options) (wrong int, err error) {
	t := talk{Options: o, targets: map[string][]string{}}
	for range o.Servers {
		s, err := listen()
		if err != nil {
			return 0, err
		}
		defer s.Close()
		t.servers = append(t.servers, s)
		t.targets[worker.TargetRedis] = append(t.targets[worker.TargetRedis], s.Addr().String())
	}
	if err := t.script(); err != nil {
		return t.wrong, err
	}
	for _, s := range t.servers {
		if missing := s.missing(); missing != "" {
			fmt.Fprintf(o.Out, "The built-in server has no %s: errors about it are not the worker's.\n", missing)
			break
		}
	}
	return t.wrong, nil
}

// talk is the conversation.
type talk struct {
	Options
	targets map[string][]string
	servers []*server
	wrong   int
}

// script goes through the conversation: one client alone, another one that is refused,
// and messages that no worker knows.
func (t *talk) script() error {
	first, err := t.start("c1")
	if err != nil {
		return err
	}
	defer first.process.Kill()
	if !first.init() {
		return nil
	}
	for _, op := range []string{"acquire", "read", "write", "release", "acquire"} {
		first.operation(op, true)
	}
	second, err := t.start("c2")
	if err != nil {
		return err
	}
	defer second.process.Kill()
	if second.init() {
		second.operation("acquire", len(t.servers) == 0)
		first.operation("release", true)
		second.unknown()
		second.garbage()
	}
	first.close()
	return nil
}

// side is a worker in the conversation.
type side struct {
	*talk
	client   string
	process  *worker.Process
	lines    chan string
	features []string
	id       int64
	value    int64 // of the resource
	holds    bool
}

func (t *talk) start(client string) (*side, error) {
	s := &side{talk: t, client: client, lines: make(chan string, 100)}
	var err error
	s.process, err = worker.Start(t.Command, nil, worker.Handler{Line: func(line string) { s.lines <- line }})
	return s, err
}

// finding is a wrong message.
type finding struct {
	line    string // that the worker wrote; "": none
	want    string
	section string
}

// report prints the outcome of a step.
func (t *talk) report(step string, f *finding) {
	if f == nil {
		fmt.Fprintf(t.Out, "✓ %s\n", step)
		return
	}
	t.wrong++
	fmt.Fprintf(t.Out, "✗ %s\n    the worker wrote  %s\n    expected          %s\n    see docs/worker.md, “%s”\n", step, cmp.Or(f.line, "nothing"), f.want, f.section)
}

// known are the features of the protocol.
var known = []string{
	worker.FeatureToken, worker.FeatureDeadline, worker.FeatureClock, worker.FeatureClockSet, worker.FeaturePoints,
	worker.FeatureReleaseName, worker.FeatureUnfair, worker.FeatureTry, worker.FeatureExtend, worker.FeatureRun,
}

// init checks the answer to init, and reports whether the conversation can go on.
func (s *side) init() bool {
	q := worker.Request{
		Op: worker.OpInit, Protocol: worker.Protocol, Clients: []string{s.client}, Locks: []string{lockName}, TTLMS: s.Lease.Milliseconds(),
		Targets: s.targets, Options: map[string]any{},
	}
	a, line, f := s.ask(q)
	want := func(words string, section string) *finding { return &finding{line, words, section} }
	switch {
	case f != nil:
	case !*a.OK:
		f = want(`"ok":true: without it no run begins`, protocol)
	case a.Protocol != nil && *a.Protocol != worker.Protocol:
		f = want(fmt.Sprintf(`"protocol":%d, or none`, worker.Protocol), protocol)
	case slices.Contains(a.Features, worker.FeatureDeadline) && !slices.Contains(a.Features, worker.FeatureClock):
		f = want("the feature clock beside deadline: without it deadlines are ignored", protocol)
	default:
		if err := worker.CheckEntries(a.Entries, s.Store); err != nil {
			f = want(err.Error(), entries)
		}
		for _, feature := range a.Features {
			if !slices.Contains(known, feature) {
				f = want(fmt.Sprintf("no feature %q: there are %s", feature, strings.Join(known, ", ")), protocol)
			}
		}
	}
	s.features = a.Features
	s.report(s.client+": init", f)
	return f == nil
}

func (s *side) has(feature string) bool { return slices.Contains(s.features, feature) }

// operation checks one operation. free: nobody else holds the lock, as far as is known.
func (s *side) operation(op string, free bool) {
	step := s.client + ": " + op
	if s.has(worker.FeatureRun) {
		return // it has no acquire: the lock calls the critical section itself
	}
	if op != "acquire" && !s.holds {
		fmt.Fprintf(s.Out, "– %s: left out, because the client holds nothing\n", step)
		return
	}
	q := worker.Request{Op: op, Client: s.client, Lock: lockName, TimeoutMS: timeout.Milliseconds()}
	if !free {
		q.TimeoutMS /= 10 // a worker may ask up to then
	}
	if op == "write" {
		v := s.value + 17
		q.Value = &v
	}
	a, line, f := s.ask(q)
	want := func(words, section string) *finding { return &finding{line, words, section} }
	ok := f == nil && *a.OK
	switch {
	case f != nil:
	case !ok && a.Error == "":
		f = want(`an "error" beside "ok":false`, meaning)
	case op == "acquire" && !ok && free && len(s.servers) > 0:
		f = want(`"ok":true: no client holds the lock`, protocol)
	case op == "acquire" && ok && !free:
		f = want(`{"ok":false,"error":"held"}: c1 holds the lock`, meaning)
	case op == "acquire" && !ok && !free && a.Error != worker.ErrHeld:
		f = want(`"error":"held": another client has the lock, and the worker was not granted it`, meaning)
	case op == "acquire" && ok:
		f = s.grant(a, line)
	case op == "read" && ok && (a.Value == nil || *a.Value != s.value):
		f = want(fmt.Sprintf(`"value":%d, which the resource answered`, s.value), protocol)
	case !ok && op != "acquire" && len(s.servers) > 0:
		f = want(`"ok":true: the client holds the lock, and its lease is not over`, protocol)
	}
	if op == "acquire" || op == "release" {
		s.holds = ok && op == "acquire"
	}
	s.report(step, f)
}

// grant checks the fields that an acquire's ok has for the features of the worker.
func (s *side) grant(a worker.Answer, line string) *finding {
	switch {
	case s.has(worker.FeatureToken) && a.Token == 0:
		return &finding{line, `a "token": the worker has that feature`, protocol}
	case s.has(worker.FeatureDeadline) && (a.ValidMS == nil || a.MonoNS == nil):
		return &finding{line, `"valid_ms" and "mono_ns": the worker has the feature deadline`, protocol}
	}
	return nil
}

// unknown sends an operation that no worker knows.
func (s *side) unknown() {
	a, line, f := s.ask(worker.Request{Op: "no-such-op", Client: s.client, Lock: lockName, TimeoutMS: 1000})
	if f == nil && *a.OK {
		f = &finding{line, `{"ok":false,"error":"unsupported"}: there is no operation no-such-op`, meaning}
	}
	s.report(s.client+": an unknown operation", f)
}

// garbage sends a line that is not JSON. The worker may end, or ignore it.
func (s *side) garbage() {
	s.process.SendLine("this is not JSON")
	var f *finding
	select {
	case line := <-s.lines:
		if a := (worker.Answer{}); json.Unmarshal([]byte(line), &a) != nil || a.OK != nil && *a.OK {
			f = &finding{line, "no answer, or an error: the line was not JSON", protocol}
		}
	case <-s.process.Done():
	case <-time.After(time.Second):
	}
	s.report(s.client+": a line that is not JSON", f)
}

// close ends the worker's input.
func (s *side) close() {
	closed := make(chan struct{})
	go func() {
		s.process.Close(patience) // kills it then
		close(closed)
	}()
	var f *finding
	select {
	case <-s.process.Done():
	case <-closed:
	}
	<-closed
	if exit := s.process.Exit(); strings.Contains(exit, "killed") {
		f = &finding{"", fmt.Sprintf("an exit within %v after the end of standard input", patience), ending}
	}
	s.report(s.client+": close", f)
}

// ask sends a request, serves the resource, and returns the answer.
func (s *side) ask(q worker.Request) (a worker.Answer, line string, f *finding) {
	s.id++
	q.ID = s.id
	if s.process.Send(q) != nil {
		return a, "", s.ended()
	}
	limit := time.After(patience + time.Duration(q.TimeoutMS)*time.Millisecond)
	asked := false // it has asked the resource
	for {
		select {
		case line = <-s.lines:
		case <-s.process.Done():
			select {
			case line = <-s.lines:
			default:
				return a, "", s.ended()
			}
		case <-limit:
			return a, "", &finding{"", fmt.Sprintf(`an answer to request %d, as {"id":%d,"ok":true}, within its timeout; is standard output flushed?`, q.ID, q.ID), protocol}
		}
		a = worker.Answer{}
		err := json.Unmarshal([]byte(line), &a)
		switch {
		case err != nil:
			return a, line, &finding{line, fmt.Sprintf(`one JSON object a line (%v); a log belongs on standard error`, err), protocol}
		case a.Event != "":
			continue
		case a.ID != q.ID:
			return a, line, &finding{line, fmt.Sprintf(`"id":%d, which the request has`, q.ID), protocol}
		case a.Do != "":
			if f := s.access(q, a, line); f != nil {
				return a, line, f
			}
			asked = true
			continue
		case a.OK == nil:
			return a, line, &finding{line, `"ok":true or "ok":false`, protocol}
		case *a.OK && !asked && (q.Op == "read" || q.Op == "write"):
			return a, line, &finding{line, fmt.Sprintf(`first {"id":%d,"do":"resource.%s"}: the resource is in lockcheck`, q.ID, q.Op), protocol}
		}
		return a, line, nil
	}
}

// ended is the finding about a worker that has ended, or that no longer reads.
func (s *side) ended() *finding {
	select {
	case <-s.process.Done():
	case <-time.After(patience):
		s.process.Kill()
	}
	log := strings.TrimSpace(s.process.Log())
	if log != "" {
		log = "; its log ends with: " + log[max(0, len(log)-300):]
	}
	return &finding{"", "an answer, but the worker has ended with " + s.process.Exit() + log, ending}
}

// access serves a request to the resource.
func (s *side) access(q worker.Request, a worker.Answer, line string) *finding {
	r := worker.Request{ID: a.ID}
	switch {
	case a.Do != "resource."+q.Op:
		return &finding{line, fmt.Sprintf(`"do":"resource.%s"`, q.Op), protocol}
	case s.has(worker.FeatureToken) && a.Token == 0:
		return &finding{line, `the "token" of the grant: the worker has that feature`, protocol}
	case q.Op == "read":
		v := s.value
		r.Value = &v
	case a.Value == nil || *a.Value != *q.Value:
		return &finding{line, fmt.Sprintf(`"value":%d, which the request has`, *q.Value), protocol}
	default:
		s.value, r.Result = *q.Value, "ok"
	}
	s.process.Send(r)
	return nil
}
