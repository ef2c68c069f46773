package worker

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/lockcheck/lockcheck/internal/env"
)

// Errors of requests without an answer. The request may have happened.
var (
	// ErrExited: the worker's process has ended.
	ErrExited = errors.New("the worker has ended")
	// ErrRubbish: the worker wrote a line that is not part of the protocol.
	ErrRubbish = errors.New("the worker wrote a line that makes no sense")
	// ErrLate: no answer in time.
	ErrLate = errors.New("the worker did not answer in time")
)

// maxShown is how many bytes of a wrong line an error shows.
const maxShown = 300

// maxLog is how many bytes of a worker's log are kept, at its end.
const maxLog = 64 << 10

// exitGrace is how long a worker's output is read after its process has ended. Its
// child processes may have it open still.
const exitGrace = time.Second

// Process is the harness's end of a worker. The worker and its child processes are a
// process group, which ends with the harness, even if the harness is killed and the
// worker is stopped.
type Process struct {
	handler Handler
	secrets *strings.Replacer // takes secrets out of what the worker says
	pid     int
	waited  map[string]time.Duration // see Starved
	stdin   *os.File
	done    chan struct{} // closed when the process has ended and all its output was read

	mu      sync.Mutex
	id      int64
	waiting map[int64]chan Reply
	late    map[int64]bool // requests that their caller gave up, without an answer so far
	spoke   bool           // it has written a valid line
	broken  error          // a *env.ProtocolError: all later requests fail
	log     []byte
	exit    error // how the process ended
	rubbish int   // number of invalid lines

	stopping sync.Mutex // one stop or kill at a time
	reaped   bool
}

// Handler receives what a worker writes unasked. The reading goroutine calls its
// functions one after another; they must not block. Functions may be nil.
type Handler struct {
	Do    func(Answer)
	Event func(Answer)
	Late  func(Answer) // an answer to a request that its caller gave up
	// Line gets each line instead of all the others. Then nothing is checked, and no
	// request has a reply.
	Line func(line string)
	// Broken gets the first *env.ProtocolError, in its own goroutine.
	Broken func(error)
}

// Reply is the end of a request: an answer, or ErrExited, ErrRubbish or a
// *env.ProtocolError.
type Reply struct {
	Answer Answer
	Err    error
}

// Start starts a worker by its command line. env is added to the environment.
func Start(command, env []string, h Handler) (*Process, error) {
	if len(command) == 0 {
		return nil, errors.New("worker: an empty command")
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), env...)
	ownGroup(cmd)
	pipes, err := makePipes()
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = pipes.theirs[0], pipes.theirs[1], pipes.theirs[2]
	p := &Process{handler: h, secrets: hiding(cmd.Env), stdin: pipes.ours[0], done: make(chan struct{}), waiting: map[int64]chan Reply{}, late: map[int64]bool{}}
	started := make(chan error)
	go p.run(cmd, pipes, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return p, nil
}

// pipes are our ends and the worker's ends of its standard input, output and error. The
// process gets files, so that Wait does not wait for other processes that have them open.
type pipes struct{ ours, theirs []*os.File }

func makePipes() (*pipes, error) {
	ps := &pipes{}
	for i := range 3 {
		ours, theirs, err := os.Pipe()
		if err != nil {
			closeAll(ps.ours)
			closeAll(ps.theirs)
			return nil, err
		}
		if i == 0 { // the worker reads its input
			ours, theirs = theirs, ours
		}
		ps.ours, ps.theirs = append(ps.ours, ours), append(ps.theirs, theirs)
	}
	return ps, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// run starts the process and waits for its end. It keeps its thread: the kernel ends a
// worker with the thread that started it, not with the process (PR_SET_PDEATHSIG), and
// the runtime ends threads.
func (p *Process) run(cmd *exec.Cmd, ps *pipes, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := cmd.Start()
	closeAll(ps.theirs)
	if err != nil {
		closeAll(ps.ours)
		started <- err
		return
	}
	p.pid = cmd.Process.Pid
	started <- nil

	var reading sync.WaitGroup
	reading.Go(func() { p.read(ps.ours[1]) })
	reading.Go(func() { io.Copy(logWriter{p}, ps.ours[2]) })
	err = p.reap(cmd)
	cut := time.AfterFunc(exitGrace, func() { closeAll(ps.ours[1:]) })
	reading.Wait()
	cut.Stop()
	p.end(err)
	closeAll(ps.ours)
}

// end fails all waiting requests because the process has ended.
func (p *Process) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exit = err
	p.failAll(ErrExited)
	close(p.done)
}

// failAll ends all waiting requests with err. The caller holds mu.
func (p *Process) failAll(err error) {
	for id, ch := range p.waiting {
		delete(p.waiting, id)
		p.late[id] = true
		ch <- Reply{Err: err}
	}
}

// read reads the worker's lines.
func (p *Process) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if p.handler.Line != nil {
			p.handler.Line(lines.Text())
			continue
		}
		a, err := parse(lines.Bytes())
		switch {
		case err == nil:
			a.Error, a.Text = p.publishable(a.Error), p.publishable(a.Text)
			err = p.checkProtocol(a)
		case p.silent():
			err = notAnAnswer(err)
		default:
			p.failWaiting(lines.Text(), err)
			continue
		}
		if violation := (*env.ProtocolError)(nil); errors.As(err, &violation) {
			violation.Line = shown(lines.Text())
			p.fail(violation)
			continue
		}
		p.handle(a)
	}
	if err := lines.Err(); err != nil && p.handler.Line == nil { // a line without an end
		if p.silent() {
			p.fail(notAnAnswer(err))
		} else {
			p.failWaiting("", err)
		}
		io.Copy(io.Discard, out)
	}
}

// notAnAnswer returns the error for an invalid first line.
func notAnAnswer(err error) *env.ProtocolError {
	return &env.ProtocolError{Want: fmt.Sprintf(`an answer to request 1, as {"id":1,"ok":true} (%v); a log belongs on standard error`, err)}
}

// failWaiting fails all waiting requests as uncertain, because of an invalid line.
func (p *Process) failWaiting(line string, err error) {
	fmt.Fprintf(logWriter{p}, "lockcheck: on standard output: %v: %q\n", err, line)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rubbish++
	p.failAll(ErrRubbish)
}

// shown returns a line for an error message, quoted unless it is plain text.
func shown(line string) string {
	if len(line) > maxShown {
		line = strings.ToValidUTF8(line[:maxShown], "") + "…"
	}
	if strings.HasPrefix(line, "{") && strconv.CanBackquote(line) {
		return line
	}
	return strconv.Quote(line)
}

// silent reports whether the worker has written no valid line yet.
func (p *Process) silent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.spoke
}

// checkProtocol returns a *env.ProtocolError if no worker may write that: another
// version, an answer without a request, or a second answer.
func (p *Process) checkProtocol(a Answer) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, waits := p.waiting[a.ID]
	switch {
	case a.Protocol != nil && *a.Protocol != Protocol:
		return &env.ProtocolError{Want: fmt.Sprintf(`"protocol":%d, the version that it speaks itself`, Protocol)}
	case a.Event == "" && !waits && !p.late[a.ID]:
		ids := slices.Sorted(maps.Keys(p.waiting))
		if len(ids) == 0 {
			return &env.ProtocolError{Want: "no answer: every request has one"}
		}
		return &env.ProtocolError{Want: fmt.Sprintf("the id of a request without an answer, of %s", strings.Trim(fmt.Sprint(ids), "[]"))}
	}
	p.spoke = true
	return nil
}

// fail ends the conversation: every request ends with err.
func (p *Process) fail(err error) {
	fmt.Fprintf(logWriter{p}, "lockcheck: %v\n", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failAll(err)
	if p.broken == nil && p.handler.Broken != nil {
		go p.handler.Broken(err)
	}
	p.broken = cmp.Or(p.broken, err)
}

func (p *Process) handle(a Answer) {
	switch {
	case a.Event != "":
		if p.handler.Event != nil {
			p.handler.Event(a)
		}
	case a.Do != "":
		if p.handler.Do != nil {
			p.handler.Do(a)
		}
	default:
		p.mu.Lock()
		ch := p.waiting[a.ID]
		delete(p.waiting, a.ID)
		delete(p.late, a.ID)
		p.mu.Unlock()
		if ch != nil {
			ch <- Reply{Answer: a}
		} else if p.handler.Late != nil {
			p.handler.Late(a)
		}
	}
}

// Number reserves a request number.
func (p *Process) Number() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id++
	return p.id
}

// Call sends a request, with a new number unless it has one. It returns the number and
// the channel for the one reply.
func (p *Process) Call(q Request) (id int64, reply <-chan Reply) {
	if q.ID == 0 {
		q.ID = p.Number()
	}
	ch := make(chan Reply, 1)
	p.mu.Lock()
	err := p.broken
	select {
	case <-p.done:
		err = ErrExited
	default:
	}
	if err == nil {
		p.waiting[q.ID] = ch
	}
	p.mu.Unlock()
	if err != nil {
		ch <- Reply{Err: err}
	} else if err := p.Send(q); err != nil {
		// The worker does not read: it has ended, or is ending. The requests get
		// ErrExited.
		p.Kill()
	}
	return q.ID, ch
}

// Forget gives up a request: its answer will be late. It returns false if the reply has
// come already.
func (p *Process) Forget(id int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, waits := p.waiting[id]
	delete(p.waiting, id)
	if waits {
		p.late[id] = true
	}
	return waits
}

// Ask is Call for requests that are answered at once. It returns failures as errors.
func (p *Process) Ask(q Request, limit time.Duration) (Answer, error) {
	id, reply := p.Call(q)
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case r := <-reply:
		if r.Err != nil {
			return Answer{}, r.Err
		}
		return r.Answer, r.Answer.Err()
	case <-timer.C:
		p.Forget(id)
		return Answer{}, ErrLate
	}
}

// Send writes a line that gets no reply.
func (p *Process) Send(q Request) error {
	b, err := json.Marshal(q)
	if err != nil {
		return err
	}
	_, err = p.stdin.Write(append(b, '\n'))
	return err
}

// SendLine writes a line as it is.
func (p *Process) SendLine(line string) error {
	_, err := p.stdin.Write([]byte(line + "\n"))
	return err
}

// Done is closed when the process has ended and all that it wrote was handled.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit returns how the process ended, once Done is closed.
func (p *Process) Exit() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exit == nil {
		return "exit status 0"
	}
	return p.exit.Error()
}

// Rubbish returns how many lines of the worker were invalid.
func (p *Process) Rubbish() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rubbish
}

// Log returns the end of the worker's standard error, and every invalid line of its
// standard output.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.secrets.Replace(strings.ToValidUTF8(string(p.log), "�"))
}

// Stop stops the whole group (SIGSTOP) and returns when the kernel reports it as
// stopped: it does nothing from then on, and sends nothing. An ended process counts as
// stopped.
func (p *Process) Stop() error { return p.act(stopGroup) }

// Continue continues a stopped group.
func (p *Process) Continue() error { return p.act(continueGroup) }

// act calls f with the group, unless that has ended.
func (p *Process) act(f func(pid int) error) error {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	if p.reaped {
		return nil
	}
	return f(p.pid)
}

// Kill ends the whole group at once (SIGKILL), stopped or not, and waits for
// its end.
func (p *Process) Kill() error {
	err := p.act(killGroup)
	if err == nil {
		<-p.done
	}
	return err
}

// Close ends the worker's input, and kills the worker if it has not ended after grace.
func (p *Process) Close(grace time.Duration) error {
	p.stdin.Close()
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
		return nil
	case <-timer.C:
		return p.Kill()
	}
}

// logWriter keeps the last maxLog bytes.
type logWriter struct{ *Process }

func (w logWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, b...)
	if over := len(w.log) - maxLog; over > 0 {
		w.log = slices.Delete(w.log, 0, over)
	}
	return len(b), nil
}
