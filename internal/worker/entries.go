package worker

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Entry is what a worker's lock keeps in its store, as the answer to init declares it. It
// has one of Redis, ZooKeeper and MySQL. NamePlace in a name stands for the lock's name.
type Entry struct {
	Redis     string      `json:"redis,omitempty"`     // a key
	ZooKeeper string      `json:"zookeeper,omitempty"` // a node: the children of this path, and the path itself if it is ephemeral
	MySQL     *MySQLEntry `json:"mysql,omitempty"`
	Name      string      `json:"name,omitempty"` // of GET_LOCK
}

// NamePlace stands for the name of the lock.
const NamePlace = "{name}"

// GetLock is the word for a lock of MySQL's GET_LOCK.
const GetLock = "get_lock"

// MySQLEntry is a row of a table, or a named lock.
type MySQLEntry struct {
	GetLock bool   `json:"-"`
	Table   string `json:"table"`
	Key     string `json:"key"`   // the column with the name of the lock
	Owner   string `json:"owner"` // the column with the owner; empty or NULL: nobody holds
}

// UnmarshalJSON takes the word GetLock, or the names of a table and its columns.
func (m *MySQLEntry) UnmarshalJSON(b []byte) error {
	var word string
	if json.Unmarshal(b, &word) == nil {
		if word != GetLock {
			return fmt.Errorf("mysql %q: it is %q, or a table with its columns", word, GetLock)
		}
		m.GetLock = true
		return nil
	}
	type plain MySQLEntry
	if err := json.Unmarshal(b, (*plain)(m)); err != nil {
		return err
	}
	for _, name := range []string{m.Table, m.Key, m.Owner} {
		if !isIdentifier(name) {
			return fmt.Errorf("mysql %s: it needs a table, a key and an owner, in letters, digits and _", b)
		}
	}
	return nil
}

// isIdentifier reports whether a name can stand in a statement without quotes.
func isIdentifier(name string) bool {
	return name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// check returns an error unless the entry is one of the kind of server that the worker
// has.
func (e *Entry) check(kind string) error {
	var named string
	var kinds []string
	for of, name := range map[string]string{TargetRedis: e.Redis, TargetZooKeeper: e.ZooKeeper} {
		if name != "" {
			kinds, named = append(kinds, of), name
		}
	}
	if e.MySQL != nil {
		kinds, named = append(kinds, TargetMySQL), e.Name
	}
	switch {
	case len(kinds) != 1:
		return errors.New("an entry has one of redis, zookeeper and mysql")
	case kinds[0] != kind:
		return fmt.Errorf("an entry is of %s, and the servers of the worker are of %s", kinds[0], kind)
	case e.MySQL != nil && !e.MySQL.GetLock:
		if e.Name != "" {
			return errors.New("an entry in a table has no name: its key column has the name of the lock")
		}
		return nil
	case !strings.Contains(named, NamePlace):
		return fmt.Errorf("the entry %q does not contain %s, which stands for the name of the lock", named, NamePlace)
	}
	return nil
}

// CheckEntries returns an error unless the entries are of this kind of server.
func CheckEntries(entries []Entry, kind string) error {
	for i := range entries {
		if err := entries[i].check(kind); err != nil {
			return err
		}
	}
	return nil
}

// Names returns the lock of each key, path or name that entries stand for. The entries in a
// table of MySQL have none.
func Names(entries []Entry, locks []string) map[string]string {
	names := map[string]string{}
	for _, e := range entries {
		for _, lock := range locks {
			if pattern := e.Redis + e.ZooKeeper + e.Name; pattern != "" {
				names[strings.ReplaceAll(pattern, NamePlace, lock)] = lock
			}
		}
	}
	return names
}
