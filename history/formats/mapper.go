package formats

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

// errSkip means a line of the nemesis without a fault.
var errSkip = errors.New("the nemesis names no fault")

// mapper converts maps of Jepsen and others to entries.
type mapper struct {
	colon   bool // messages spell keys as in EDN
	ours    bool // the file has our header: our format's meaning has priority
	clients clients
	guesses
}

// spell returns the key in the file's spelling.
func (m *mapper) spell(k key) string {
	if m.colon {
		return ":" + keyNames[k]
	}
	return strconv.Quote(strings.ReplaceAll(keyNames[k], "-", "_"))
}

func (m *mapper) wrong(k key, v *value, want string) error {
	return fmt.Errorf("%s is %s: want %s", m.spell(k), v.short(), want)
}

// kind fills in Type and F.
func (m *mapper) kind(op *operation, e *history.Entry) error {
	if op[keyType] == nil {
		return fmt.Errorf("%s is missing", m.spell(keyType))
	}
	w, ok := op[keyType].local()
	for t := history.Invoke; ok && t <= history.Event; t++ {
		if t.String() == w {
			e.Type = t
		}
	}
	if e.Type == 0 {
		return m.wrong(keyType, op[keyType], "invoke, ok, fail, info or event")
	}
	if op[keyProcess] == nil {
		return fmt.Errorf("%s is missing", m.spell(keyProcess))
	}
	if op[keyF] == nil {
		if w, _ := op[keyProcess].local(); w == history.Nemesis {
			return errSkip
		}
		return fmt.Errorf("%s is missing", m.spell(keyF))
	}
	if e.F, ok = op[keyF].local(); !ok || e.F == "" {
		return m.wrong(keyF, op[keyF], "a keyword or a string")
	}
	return nil
}

// fields fills in the fields that all lines have in common.
func (m *mapper) fields(op *operation, e *history.Entry, given *history.Given) error {
	for _, to := range [...]struct {
		key key
		to  *string
	}{{keyClient, &e.Client}, {keyLock, &e.Lock}, {keyKey, &e.Key}, {keyPoint, &e.Point}} {
		if v := op[to.key]; v != nil {
			var ok bool
			if *to.to, ok = v.name(); !ok {
				return m.wrong(to.key, v, "a name")
			}
		}
	}
	var index, now, grant, until, id, amount history.Opt
	for _, to := range [...]struct {
		key key
		to  *history.Opt
	}{
		{keyIndex, &index},
		{keyGrant, &grant},
		{keyValidUntil, &until},
		{keyWas, &e.Was},
		{keyBy, &e.By},
		{keyOp, &e.Op},
		{keyID, &id},
		{keyAmount, &amount},
		{keyHits, &e.Hits},
	} {
		if v := op[to.key]; v != nil {
			if v.kind != integer {
				return m.wrong(to.key, v, "a 64-bit integer")
			}
			*to.to = history.Some(v.n)
		}
	}
	var err error
	if now, err = m.time(op[keyTime]); err != nil {
		return err
	}
	if v := op[keyToken]; v != nil {
		if e.Token, err = m.token(v); err != nil {
			return err
		}
	}
	if v := op[keyShared]; v != nil {
		if v.kind != boolean {
			return m.wrong(keyShared, v, "true or false")
		}
		e.Shared = v.n != 0
	}
	if grant.V < 0 {
		return fmt.Errorf("%s is %d: grants are counted from 1", m.spell(keyGrant), grant.V)
	}
	if v := op[keyText]; v != nil {
		e.Text = v.plain()
	}
	e.Index, e.Grant, e.ID = int(index.V), int(grant.V), int(id.V)
	e.Time, e.ValidUntil, e.Amount = time.Duration(now.V), time.Duration(until.V), time.Duration(amount.V)
	given.Index, given.Time = index.Set, now.Set
	return m.on(op[keyOn], e)
}

// time reads nanoseconds; a float may represent an integer.
func (m *mapper) time(v *value) (history.Opt, error) {
	switch {
	case v == nil:
		return history.Opt{}, nil
	case v.kind == integer:
		return history.Some(v.n), nil
	case v.kind == number:
		f, err := strconv.ParseFloat(strings.TrimRight(v.text, "M"), 64)
		if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return history.Some(int64(f)), nil
		}
	}
	return history.Opt{}, m.wrong(keyTime, v, "nanoseconds, as an integer")
}

func (m *mapper) token(v *value) (uint64, error) {
	n := v.n
	if v.kind != integer {
		var err error
		if n, err = strconv.ParseInt(v.text, 10, 64); err != nil || v.kind != text {
			n = -1
		}
	}
	if n < 0 {
		return 0, m.wrong(keyToken, v, "an integer from 0 to 2^63-1")
	}
	return uint64(n), nil
}

func (m *mapper) on(v *value, e *history.Entry) error {
	if v == nil {
		return nil
	}
	if v.kind != vector && v.kind != set {
		return m.wrong(keyOn, v, "a list of names")
	}
	for i := range v.items {
		name, ok := v.items[i].name()
		if !ok {
			return m.wrong(keyOn, v, "a list of names")
		}
		e.On = append(e.On, name)
	}
	return nil
}

// error fills in Error, and details in Text.
func (m *mapper) error(op *operation, e *history.Entry) {
	v := op[keyError]
	if v == nil {
		return
	}
	var ok bool
	if e.Error, ok = v.word(); ok {
		return
	}
	if v.kind == vector && len(v.items) > 0 {
		e.Error, _ = v.items[0].word()
	}
	note(e, v)
}

// note adds a value without a field of its own to Text.
func note(e *history.Entry, v *value) {
	if v.kind == null {
		return
	}
	s := v.plain()
	if e.Text != "" {
		s = e.Text + "; " + s
	}
	e.Text = s
}
