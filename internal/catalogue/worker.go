package catalogue

import (
	"fmt"
	"strings"
)

// workerStores are the servers that a user's worker may ask for. The first is the default.
// Nobody knows what ends a worker's grant on servers that keep sessions: a session may.
var workerStores = []struct {
	word string
	lock Lock
}{
	{"redis", Lock{}},
	{"redlock", Lock{Nodes: 5}},
	{"sentinel", Lock{Replicas: 2}},
	{"zookeeper", Lock{Store: StoreZooKeeper, Lease: LeaseSession}},
	{"mysql", Lock{Store: StoreMySQL, Lease: LeaseSession}},
}

// WorkerStores returns the words for the servers of a worker, the default first.
func WorkerStores() (words []string) {
	for _, s := range workerStores {
		words = append(words, s.word)
	}
	return words
}

// WorkerLock returns the lock of a user's worker, with this id, on the servers that a word
// stands for; "": the default.
func WorkerLock(id, store string) (Lock, error) {
	for i, s := range workerStores {
		if s.word == store || store == "" && i == 0 {
			s.lock.ID = id
			return s.lock, nil
		}
	}
	return Lock{}, fmt.Errorf("store %q: it can be %s", store, strings.Join(WorkerStores(), ", "))
}
