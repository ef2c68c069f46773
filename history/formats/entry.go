package formats

import (
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// entry converts v. It does not fill in omitted fields. The error errSkip means
// that v has no entry.
func (m *mapper) entry(v *value, e *history.Entry, given *history.Given) error {
	*e, *given = history.Entry{}, history.Given{}
	var op operation
	var lock *value // the value of --lock-from
	for i := 0; i+1 < len(v.items); i += 2 {
		w, ok := v.items[i].local()
		if !ok || v.items[i+1].kind == null {
			continue
		}
		if w == m.reading.LockFrom {
			lock = &v.items[i+1]
		}
		switch k, known := keyNamed[w]; {
		case !known:
		case op[k] != nil:
			return fmt.Errorf("%s occurs twice", m.spell(k))
		default:
			op[k] = &v.items[i+1]
		}
	}
	if err := m.kind(&op, e); err != nil {
		return err
	}
	if err := m.fields(&op, e, given); err != nil {
		return err
	}
	client, err := m.processOf(&op, e)
	if err != nil {
		return err
	}
	m.error(&op, e)
	if client != nil {
		return m.client(&op, e, client, lock)
	}
	namedFields(&op, e)
	return nil
}

// processOf returns the client's process of e, or nil for a named process that is not a
// client.
func (m *mapper) processOf(op *operation, e *history.Entry) (*client, error) {
	v := op[keyProcess]
	if v.kind == integer {
		return m.clients.numberedProcess(e, int(v.n))
	}
	if v.kind == number && integral(strings.TrimRight(v.text, "N")) {
		return nil, fmt.Errorf("%s is %s: it does not fit 64 bits", m.spell(keyProcess), v.short())
	}
	name, ok := v.word()
	if !ok || name == "" {
		return nil, m.wrong(keyProcess, v, "an integer or a name")
	}
	c := m.clients.names[name]
	switch {
	case name == history.Nemesis:
	case c != nil, e.Type != history.Event && e.Type != history.Info:
		return m.clients.namedProcess(e, c, name)
	case !m.ours && e.Type == history.Info && isOperation(e.F):
		return nil, fmt.Errorf("%s completes %s without an invoke", name, e.F)
	}
	e.Process.Name = name
	return nil, nil
}

// namedFields fills in the value of a named process: the targets of a fault, or a
// server's event.
func namedFields(op *operation, e *history.Entry) {
	if e.Process.Name == history.Nemesis && e.Type != history.Event {
		e.Type = history.Info
	}
	v := op[keyValue]
	switch {
	case v == nil:
		return
	case v.kind == integer:
		e.Value = history.Some(v.n)
		return
	case e.Process.Name == history.Nemesis && e.On == nil:
		if e.On = targets(v); e.On != nil {
			return
		}
	}
	note(e, v)
}

// targets returns the names in the value of a fault: one, several, or the keys of
// a map. Jepsen also writes sentences and [kind {node …}].
func targets(v *value) []string {
	step := 1
	switch v.kind {
	case mapping:
		step = 2
	case vector, set:
		if len(v.items) == 2 && v.items[0].kind == keyword && v.items[1].kind == mapping {
			return targets(&v.items[1])
		}
	default:
		if w, ok := v.word(); ok && w != "" && !strings.ContainsAny(w, " \t\n") {
			return []string{w}
		}
		return nil
	}
	var names []string
	for i := 0; i < len(v.items); i += step {
		w, ok := v.items[i].word()
		if !ok {
			return nil
		}
		names = append(names, w)
	}
	return names
}
