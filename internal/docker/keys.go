package docker

import (
	"slices"
	"sync"

	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// entryKeys are the keys of the entries in a node: the names of the locks, and what a
// user's lock calls them, as far as a server has reported it.
type entryKeys struct {
	lock  *catalogue.Lock
	names []string // of the locks

	mu    sync.Mutex
	known []string
}

func newKeys(lock *catalogue.Lock, names []string) *entryKeys {
	return &entryKeys{lock: lock, names: names, known: slices.Clone(names)}
}

// lockOf returns the lock whose entry key is, and knows key from then on; "": none.
func (k *entryKeys) lockOf(key string) string {
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
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.known)
}
