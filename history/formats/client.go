package formats

import (
	"fmt"

	"github.com/lockcheck/lockcheck/history"
)

// synonyms are other names of clients' operations.
var synonyms = map[string]struct {
	f      string
	shared bool
}{
	"lock": {f: history.Acquire}, "unlock": {f: history.Release},
	"refresh": {f: history.Extend}, "renew": {f: history.Extend},
	"try-lock": {f: history.Try}, "try-acquire": {f: history.Try},
	"read-lock": {history.Acquire, true}, "acquire-read": {history.Acquire, true}, "acquire-shared": {history.Acquire, true},
	"write-lock": {f: history.Acquire}, "acquire-write": {f: history.Acquire},
	"read-unlock": {f: history.Release}, "release-read": {f: history.Release}, "release-shared": {f: history.Release},
	"write-unlock": {f: history.Release}, "release-write": {f: history.Release},
}

func isOperation(f string) bool {
	_, ok := synonyms[f]
	return ok || history.IsOperation(f)
}

// client fills in the subject of a client's operation, and tracks its process's
// open operation. lock is the value of --lock-from, or nil.
func (m *mapper) client(op *operation, e *history.Entry, c *client, lock *value) error {
	if s, ok := synonyms[e.F]; ok && e.Type != history.Event {
		e.F, e.Shared = s.f, e.Shared || s.shared
	}
	if e.Type != history.Event && !history.IsOperation(e.F) {
		return m.wrong(keyF, op[keyF], "acquire, try, release, extend, read, write or cas")
	}
	if !m.ours && e.Lock == "" && e.Key != "" {
		e.Lock, e.Key = e.Key, ""
	}
	// Only the first line of a process names its client: Jepsen writes the client
	// into the value, where other operations have none.
	var owner *string
	if c.client == "" && e.Client == "" {
		owner = &e.Client
	}
	v := op[keyValue]
	if e.Type == history.OK && e.F != history.Read && isFalse(v, c.lock) {
		if err := m.okFalse(v, e); err != nil {
			return err
		}
		v = nil
	}
	if err := m.value(v, e, c, owner); err != nil {
		return err
	}
	if m.reading.hasLockField() {
		if err := m.reading.lockFrom(lock, e); err != nil {
			return err
		}
	}
	if e.Type == history.Invoke {
		c.value = ""
		if v != nil {
			c.value, _ = v.name()
		}
	}
	m.clients.track(e, c)
	return nil
}

func (m *mapper) value(v *value, e *history.Entry, c *client, owner *string) error {
	register := e.F == history.Read || e.F == history.Write || e.F == history.CAS
	switch {
	case v == nil:
		return nil
	case m.ours && v.kind == integer:
		e.Value = history.Some(v.n)
		return nil
	case register:
		return m.register(v, e)
	case e.Type == history.Invoke || e.Type == history.Event:
		return m.lock(v, e, owner)
	default:
		return m.result(v, e, c)
	}
}

// register fills in the value of a read or write: 3; or [0 3] for a cas, the
// replaced value (nil: unknown) and the new one. Each may be in a pair after the
// register's name.
func (m *mapper) register(v *value, e *history.Entry) error {
	cas := e.F == history.CAS
	first, second := v.pair()
	if first != nil {
		if name, ok := first.name(); ok && (!cas || second.kind == vector || second.kind == null) {
			if e.Lock == "" {
				e.Lock = name
			}
			v = second
			first, second = v.pair()
		}
	}
	switch {
	case v.kind == null:
	case cas && first != nil && second.kind == integer && (first.kind == integer || first.kind == null):
		e.Value = history.Some(second.n)
		if first.kind == integer {
			e.Was = history.Some(first.n)
		}
	case v.kind == integer && (!cas || e.Was.Set || e.Type != history.Invoke):
		e.Value = history.Some(v.n)
	case e.Type == history.Fail || e.Type == history.Info:
		reason(v, e)
	case cas:
		return fmt.Errorf("%s is %s: a cas wants [old new], two 64-bit integers", m.spell(keyValue), v.short())
	default:
		return m.wrong(keyValue, v, "a 64-bit integer")
	}
	return nil
}

// reason keeps the value of a failed operation as the reason, if it is a keyword.
func reason(v *value, e *history.Entry) {
	if v.kind == keyword && e.Error == "" {
		e.Error = v.text
		return
	}
	note(e, v)
}

// lock fills in the lock of an operation and its client.
func (m *mapper) lock(v *value, e *history.Entry, owner *string) error {
	switch {
	case v.kind == mapping:
		return m.lockMap(v, e, owner)
	case e.Lock == "" && !m.reading.hasLockField():
	case v.kind == integer: // the lock is named elsewhere
		e.Value = history.Some(v.n)
		return nil
	default:
		note(e, v)
		return nil
	}
	client, lock := v.pair()
	switch {
	case client == nil:
		lock = v
	case lock.kind == null:
		client, lock = lock, client
	}
	var ok bool
	if e.Lock, ok = lock.name(); !ok {
		return m.wrong(keyValue, v, "a lock's name or [client lock]")
	}
	if e.Type == history.Invoke {
		m.name(e.Lock)
	}
	return m.owned(client, owner)
}

func (m *mapper) owned(v *value, owner *string) error {
	if v == nil || v.kind == null {
		return nil
	}
	name, ok := v.name()
	if !ok {
		return m.wrong(keyClient, v, "a name")
	}
	if owner != nil {
		*owner = name
	}
	return nil
}

// lockMap reads {:lock … :client … :token …}.
func (m *mapper) lockMap(v *value, e *history.Entry, owner *string) error {
	if name := v.get("lock", "key", "name"); name != nil && name.kind != null {
		lock, ok := name.name()
		switch {
		case !ok:
			return m.wrong(keyLock, name, "a name")
		case e.Lock != "" && e.Lock != lock:
			return fmt.Errorf("%s is %q and in the value %q: want one lock", m.spell(keyLock), e.Lock, lock)
		}
		e.Lock = lock
	}
	if fence := v.get("token", "fence"); fence != nil && fence.kind != null && e.Token == 0 {
		var err error
		if e.Token, err = m.token(fence); err != nil {
			return err
		}
	}
	return m.owned(v.get("client"), owner)
}

// result reads a completion's value beside the lock of its invoke: a fencing
// token, or a reason.
func (m *mapper) result(v *value, e *history.Entry, c *client) error {
	if first, second := v.pair(); first != nil { // [lock result], or a repeated [client lock]
		name, _ := first.name()
		last, _ := second.name()
		switch {
		case last == c.lock && c.lock != "" || name == c.lock && second.kind == null:
			return nil
		case name == c.lock:
			v = second
		}
	}
	granted := e.Type == history.OK && (e.F == history.Acquire || e.F == history.Try)
	switch name, ok := v.name(); {
	case ok && name != "" && (name == c.lock || name == c.value):
	case v.kind == integer && granted && e.Token == 0:
		var err error
		e.Token, err = m.token(v)
		return err
	case v.kind == mapping:
		if e.Lock == "" {
			e.Lock = c.lock
		}
		return m.lockMap(v, e, nil)
	case e.Type != history.OK:
		reason(v, e)
	default:
		note(e, v)
	}
	return nil
}

// okFalse gives an operation that is ok with false its meaning.
func (m *mapper) okFalse(v *value, e *history.Entry) error {
	acquires := e.F == history.Acquire || e.F == history.Try
	switch m.reading.OKFalse {
	case OKFalseGranted:
		return nil
	case OKFalseUnsaid:
		if !acquires {
			return fmt.Errorf("%s is ok, and %s is %s: use --ok-false refused to read it as failed, or --ok-false granted to read it as ok", e.F, m.spell(keyValue), v.short())
		}
		m.refused.add(m.line, 0)
	}
	e.Type = history.Fail
	return nil
}
