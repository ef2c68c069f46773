package docker

import (
	"maps"
	"slices"
	"sync/atomic"
)

// declared are the entries that a worker declares: the lock by key or path. Before a
// declaration it has none.
type declared struct {
	names atomic.Pointer[map[string]string]
}

func (d *declared) set(names map[string]string) { d.names.Store(&names) }

// lockOf returns the lock whose entry a key or path is; "": none. ok is false before a
// declaration.
func (d *declared) lockOf(key string) (name string, ok bool) {
	names := d.names.Load()
	if names == nil {
		return "", false
	}
	return (*names)[key], true
}

// all returns the keys or paths in order, and false before a declaration.
func (d *declared) all() (keys []string, ok bool) {
	names := d.names.Load()
	if names == nil {
		return nil, false
	}
	return slices.Sorted(maps.Keys(*names)), true
}
