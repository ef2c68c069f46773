package docker

import (
	"slices"
	"sync"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// entryKeys are the keys of the entries in a node: the names of the locks, and what a
// user's lock calls them, as far as a server has reported it. A worker may declare them.
type entryKeys struct {
	lock  *catalogue.Lock
	names []string // of the locks

	declared declared

	mu    sync.Mutex
	known []string
}

func newKeys(lock *catalogue.Lock, names []string) *entryKeys {
	return &entryKeys{lock: lock, names: names, known: slices.Clone(names)}
}

// lockOf returns the lock whose entry key is, and knows key from then on; "": none.
func (k *entryKeys) lockOf(key string) string {
	if name, ok := k.declared.lockOf(key); ok {
		return name
	}
	name := k.lock.NameIn(key, k.names)
	if name == "" {
		return ""
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if !slices.Contains(k.known, key) {
		k.known = append(k.known, key)
	}
	return name
}

// all returns the known keys.
func (k *entryKeys) all() []string {
	if keys, ok := k.declared.all(); ok {
		return keys
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.known)
}
