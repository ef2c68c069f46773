package zookeeper

import (
	"context"
	"time"

	"github.com/lockcheck/lockcheck/locks"
)

// Port is one client's access to an ensemble.
type Port struct{ Transport }

// Open opens a session; see Transport.
func (p Port) Open(ctx context.Context, timeout, session time.Duration) (Handle, error) {
	s, err := p.Transport.Open(ctx, timeout, session)
	return Handle{s}, err
}

// Handle is a session with a method for each request; see Session.Do for timeout
// and errors. A refusal is returned as a definite Code.
type Handle struct{ Session }

// Create creates a node and returns its path.
func (h Handle) Create(ctx context.Context, timeout time.Duration, path, data string, mode Mode) (string, error) {
	r, err := h.do(ctx, timeout, Command{Verb: Create, Path: path, Data: data, Mode: mode})
	return r.Path, err
}

// Delete removes the node at path if its version is version.
func (h Handle) Delete(ctx context.Context, timeout time.Duration, path string, version int32) error {
	_, err := h.do(ctx, timeout, Command{Verb: Delete, Path: path, Version: version})
	return err
}

// Exists returns the Stat of the node at path, and whether the node exists.
func (h Handle) Exists(ctx context.Context, timeout time.Duration, path string, watch bool) (Stat, bool, error) {
	r, err := h.Session.Do(ctx, timeout, Command{Verb: Exists, Path: path, Watch: watch})
	if err == nil && r.Code == NoNode {
		return Stat{}, false, nil
	}
	return r.Stat, err == nil && r.Code == OK, refusal(r, err)
}

// GetData returns the data of the node at path.
func (h Handle) GetData(ctx context.Context, timeout time.Duration, path string, watch bool) (string, Stat, error) {
	r, err := h.do(ctx, timeout, Command{Verb: GetData, Path: path, Watch: watch})
	return r.Data, r.Stat, err
}

// SetData gives the node at path data if its version is version.
func (h Handle) SetData(ctx context.Context, timeout time.Duration, path, data string, version int32) (Stat, error) {
	r, err := h.do(ctx, timeout, Command{Verb: SetData, Path: path, Data: data, Version: version})
	return r.Stat, err
}

// GetChildren returns the names of path's children, in no order.
func (h Handle) GetChildren(ctx context.Context, timeout time.Duration, path string, watch bool) ([]string, error) {
	r, err := h.do(ctx, timeout, Command{Verb: GetChildren, Path: path, Watch: watch})
	return r.Children, err
}

// Sync makes the session's server catch up with the leader: later requests see
// everything committed before.
func (h Handle) Sync(ctx context.Context, timeout time.Duration, path string) error {
	_, err := h.do(ctx, timeout, Command{Verb: Sync, Path: path})
	return err
}

func (h Handle) do(ctx context.Context, timeout time.Duration, c Command) (Reply, error) {
	r, err := h.Session.Do(ctx, timeout, c)
	return r, refusal(r, err)
}

// refusal returns r's code as an error, if it is a refusal.
func refusal(r Reply, err error) error {
	if err == nil && r.Code != OK {
		return locks.Definite(r.Code)
	}
	return err
}
