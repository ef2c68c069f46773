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

// What became of a request that got no answer. It may have happened.
var (
	// ErrExited: the worker's process has ended.
	ErrExited = errors.New("the worker has ended")
	// ErrRubbish: the worker wrote a line that is none of the protocol.
	ErrRubbish = errors.New("the worker wrote a line that makes no sense")
	// ErrLate: no answer in time.
	ErrLate = errors.New("the worker did not answer in time")
)

// maxShown is how much of such a line is shown.
const maxShown = 300

// maxLog is how much of a worker's log is kept: the last bytes.
const maxLog = 64 << 10

// exitGrace is how long a worker's output is read after its process has ended,
// because processes of its own may have it open.
const exitGrace = time.Second

// Process is the harness's end of a worker. It and the processes that it
// starts are a process group of their own, which ends with the harness, also
// if that is killed and the worker is stopped.
type Process struct {
	handler Handler
	pid     int
	stdin   *os.File
	done    chan struct{} // closed when the process has ended and all that it wrote was read

	mu      sync.Mutex
	id      int64
	waiting map[int64]chan Reply
	late    map[int64]bool // requests without an answer that nobody waits for any more
	spoke   bool           // it has written a line that makes sense
	broken  error          // a *env.ProtocolError: nothing is asked any more
	log     []byte
	exit    error // how the process ended
	rubbish int   // lines that make no sense

	stopping sync.Mutex // one stop or kill at a time
	reaped   bool
}

// Handler is told what a worker says unasked. Its functions are called one
// after another by the goroutine that reads, and must not block; nil ones are
// not called.
type Handler struct {
	Do    func(Answer)
	Event func(Answer)
	Late  func(Answer) // an answer that nobody waits for any more
	// Broken is told the first *env.ProtocolError, in a goroutine of its own.
	Broken func(error)
}

// Reply is what became of a request: an answer, or ErrExited, ErrRubbish or a
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
	p := &Process{handler: h, done: make(chan struct{}), waiting: map[int64]chan Reply{}, late: map[int64]bool{}}
	pipes, err := p.connect(cmd)
	if err != nil {
		return nil, err
	}
	started := make(chan error)
	go p.run(cmd, pipes, started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("worker: %w", err)
	}
	return p, nil
}

// pipes are the ends of a worker's streams.
type pipes struct {
	ours, theirs []*os.File
	out, log     *os.File
}

func (ps *pipes) add() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err != nil {
		closeAll(ps.ours)
		closeAll(ps.theirs)
	}
	return r, w, err
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
}

// connect makes the pipes. They are files for the process, so that waiting for
// it does not wait for who else has them open.
func (p *Process) connect(cmd *exec.Cmd) (*pipes, error) {
	ps := &pipes{}
	for i := range 3 {
		r, w, err := ps.add()
		if err != nil {
			return nil, err
		}
		switch i {
		case 0:
			cmd.Stdin, p.stdin = r, w
			ps.theirs, ps.ours = append(ps.theirs, r), append(ps.ours, w)
		case 1:
			cmd.Stdout, ps.out = w, r
			ps.theirs, ps.ours = append(ps.theirs, w), append(ps.ours, r)
		case 2:
			cmd.Stderr, ps.log = w, r
			ps.theirs, ps.ours = append(ps.theirs, w), append(ps.ours, r)
		}
	}
	return ps, nil
}

// run is the life of the process. It keeps the thread that starts it to
// itself: the kernel ends a worker with the thread that it was started from,
// not with the process (PR_SET_PDEATHSIG), and the runtime ends threads.
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
	reading.Go(func() { p.read(ps.out) })
	reading.Go(func() { io.Copy(logWriter{p}, ps.log) })
	err = p.reap(cmd)
	cut := time.AfterFunc(exitGrace, func() { closeAll(ps.ours[1:]) })
	reading.Wait()
	cut.Stop()
	p.end(err)
	closeAll(ps.ours)
}

// end tells everybody who waits that the process has ended.
func (p *Process) end(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.exit = err
	for id, ch := range p.waiting {
		delete(p.waiting, id)
		ch <- Reply{Err: ErrExited}
	}
	close(p.done)
}

// read reads what the worker says.
func (p *Process) read(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		a, err := parse(lines.Bytes())
		switch {
		case err == nil:
			err = p.wrong(a)
		case p.silent():
			err = notAnAnswer(err)
		default:
			p.garbage(lines.Text(), err)
			continue
		}
		if wrong := (*env.ProtocolError)(nil); errors.As(err, &wrong) {
			wrong.Line = shown(lines.Text())
			p.breaks(wrong)
			continue
		}
		p.handle(a)
	}
	if err := lines.Err(); err != nil { // a line without an end
		if p.silent() {
			p.breaks(notAnAnswer(err))
		} else {
			p.garbage("", err)
		}
		io.Copy(io.Discard, out)
	}
}

// notAnAnswer is what is wrong with a first line that makes no sense.
func notAnAnswer(err error) *env.ProtocolError {
	return &env.ProtocolError{Want: fmt.Sprintf(`an answer to request 1, as {"id":1,"ok":true} (%v); a log belongs on standard error`, err)}
}

// garbage makes every request that is under way uncertain.
func (p *Process) garbage(line string, err error) {
	fmt.Fprintf(logWriter{p}, "lockcheck: on standard output: %v: %q\n", err, line)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rubbish++
	for id, ch := range p.waiting {
		delete(p.waiting, id)
		p.late[id] = true
		ch <- Reply{Err: ErrRubbish}
	}
}

// shown is a line for an error, in quotes where it is not plain text.
func shown(line string) string {
	if len(line) > maxShown {
		line = strings.ToValidUTF8(line[:maxShown], "") + "…"
	}
	if strings.HasPrefix(line, "{") && strconv.CanBackquote(line) {
		return line
	}
	return strconv.Quote(line)
}

// silent tells whether the worker has written nothing yet that makes sense.
func (p *Process) silent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.spoke
}

// wrong is a *env.ProtocolError if no worker may write that: it speaks another version,
// or answers what nobody has asked, or has answered it before.
func (p *Process) wrong(a Answer) error {
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

// breaks ends the conversation: every request ends with err.
func (p *Process) breaks(err error) {
	fmt.Fprintf(logWriter{p}, "lockcheck: %v\n", err)
	p.mu.Lock()
	defer p.mu.Unlock()
	for id, ch := range p.waiting {
		delete(p.waiting, id)
		p.late[id] = true
		ch <- Reply{Err: err}
	}
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

// Number is for a request whose number has to be known before it is sent.
func (p *Process) Number() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.id++
	return p.id
}

// Call sends a request under a number of its own, unless it has one. It returns
// that with the channel that gets the one reply.
func (p *Process) Call(q Request) (id int64, reply <-chan Reply) {
	if q.ID == 0 {
		q.ID = p.Number()
	}
	ch := make(chan Reply, 1)
	p.mu.Lock()
	select {
	case <-p.done:
		ch <- Reply{Err: ErrExited}
		p.mu.Unlock()
		return q.ID, ch
	default:
	}
	if p.broken != nil {
		ch <- Reply{Err: p.broken}
		p.mu.Unlock()
		return q.ID, ch
	}
	p.waiting[q.ID] = ch
	p.mu.Unlock()
	if err := p.Send(q); err != nil {
		// Nobody reads: the process has ended, or will. Its end is what is told.
		p.Kill()
	}
	return q.ID, ch
}

// Forget says that nobody waits for the reply any more: an answer is late.
// false: the reply is there already.
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

// Ask is Call for what is answered at once. An answer that is no yes is an error.
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

// Done is closed when the process has ended and all that it wrote was handled.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the process ended, once Done is closed.
func (p *Process) Exit() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.exit == nil {
		return "exit status 0"
	}
	return p.exit.Error()
}

// Rubbish is how many of the worker's lines made no sense.
func (p *Process) Rubbish() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.rubbish
}

// Log is the end of what the worker wrote to standard error, and every line of
// its standard output that makes no sense.
func (p *Process) Log() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ToValidUTF8(string(p.log), "�")
}

// Stop stops the whole group (SIGSTOP), and returns when the kernel reports
// that it stands still: from then on it does nothing, not even send what it
// had decided to. A process that has ended stands still.
func (p *Process) Stop() error {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	if p.reaped {
		return nil
	}
	return stopGroup(p.pid)
}

// Continue lets a stopped group go on.
func (p *Process) Continue() error {
	p.stopping.Lock()
	defer p.stopping.Unlock()
	if p.reaped {
		return nil
	}
	return continueGroup(p.pid)
}

// Kill ends the whole group at once (SIGKILL), stopped or not, and waits for
// its end.
func (p *Process) Kill() error {
	p.stopping.Lock()
	var err error
	if !p.reaped {
		err = killGroup(p.pid)
	}
	p.stopping.Unlock()
	if err == nil {
		<-p.done
	}
	return err
}

// Close lets the worker end by itself, by the end of its input, and kills it
// if it is still there after grace.
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
