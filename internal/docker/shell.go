package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/moby/moby/api/pkg/stdcopy"
	dockerapi "github.com/moby/moby/client"
)

// shell is a shell in a container that runs scripts one after another. To start a process in
// a container takes the engine a tenth of a second and more. So a fault strikes sooner with a
// shell that is there already, and a machine has less work.
type shell struct {
	conn  dockerapi.HijackedResponse
	pipe  *io.PipeReader
	lines *bufio.Reader // what its scripts print, from pipe
}

// openShell starts a shell.
func (b *box) openShell(ctx context.Context) (*shell, error) {
	x, err := b.engine.api.ExecCreate(ctx, b.container.id, dockerapi.ExecCreateOptions{Cmd: []string{"sh"}, AttachStdin: true, AttachStdout: true, AttachStderr: true})
	if err != nil {
		return nil, err
	}
	// The connection outlives the context of the request.
	stream, err := b.engine.api.ExecAttach(context.WithoutCancel(ctx), x.ID, dockerapi.ExecAttachOptions{})
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	go func() {
		_, err := stdcopy.StdCopy(w, w, stream.Reader)
		w.CloseWithError(err)
	}()
	return &shell{stream.HijackedResponse, r, bufio.NewReader(r)}, nil
}

// endMark begins the line with the exit status of a script, which ends its output.
const endMark = "\x01lockcheck-end "

// run runs a script. It returns the script's output, up to maxOutput, and its exit status.
// After an error the shell is of no use.
func (s *shell) run(ctx context.Context, script string) (output string, status int, err error) {
	stop := context.AfterFunc(ctx, s.close)
	defer func() {
		if !stop() {
			err = errors.Join(ctx.Err(), err)
		}
	}()
	if _, err = fmt.Fprintf(s.conn.Conn, "sh -c %s </dev/null 2>&1; printf '\\n\\001lockcheck-end %%d\\n' $?\n", quote([]string{script})); err != nil {
		return "", 0, err
	}
	var kept strings.Builder
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return "", 0, fmt.Errorf("the shell in the container has ended: %w", err)
		}
		if end, is := strings.CutPrefix(line, endMark); is {
			status, err = strconv.Atoi(strings.TrimSpace(end))
			return strings.TrimSpace(kept.String()), status, err
		}
		if kept.Len() < maxOutput {
			kept.WriteString(line)
		}
	}
}

// maxOutput is about how many bytes of a script's output are kept.
const maxOutput = 4096

// close ends the shell, and a script that it runs.
func (s *shell) close() {
	s.conn.Close()
	s.pipe.Close()
}

// shells are the shells of a container that run nothing now: several scripts may run at once.
type shells struct {
	mu   sync.Mutex
	idle []*shell
}

// takeShell returns a shell that runs nothing, perhaps a new one.
func (b *box) takeShell(ctx context.Context) (*shell, error) {
	if s := b.container.shells.take(); s != nil {
		return s, nil
	}
	return b.openShell(ctx)
}

// take returns a shell, or nil if none is idle.
func (s *shells) take() *shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return nil
	}
	one := s.idle[n-1]
	s.idle = s.idle[:n-1]
	return one
}

// put takes a shell back.
func (s *shells) put(one *shell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, one)
}

// close ends all shells.
func (s *shells) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.idle {
		one.close()
	}
	s.idle = nil
}
