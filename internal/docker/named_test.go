package docker

import (
	"slices"
	"testing"
)

// The reports about a named lock follow from who holds it after each answer.
func TestNamedLocks(t *testing.T) {
	t.Parallel()
	const get, free = "SELECT GET_LOCK('my-a', 1)", "SELECT RELEASE_LOCK('my-a')"
	type poll struct {
		session int64
		op      int
		command string // sent before the poll; "": none
		answer  string
		holder  int64
		ended   int64
	}
	for name, c := range map[string]struct {
		polls []poll
		want  []string
		blind bool
	}{
		"taken and released": {
			[]poll{{7, 1, get, "\x011", 7, 0}, {7, 2, free, "\x011", 0, 0}},
			[]string{"grant of 1 by 1", "remove of 1 by 2"},
			false,
		},
		"reported before the answer": {
			[]poll{{7, 1, get, "", 7, 0}, {7, 1, "", "\x011", 7, 0}, {7, 2, free, "", 0, 0}},
			[]string{"grant of 1 by 1", "remove of 1 by 2"},
			false,
		},
		"refused":                {[]poll{{7, 1, get, "\x011", 7, 0}, {8, 2, get, "\x010", 7, 0}}, []string{"grant of 1 by 1"}, false},
		"passed on in one step":  {[]poll{{7, 1, get, "\x011", 7, 0}, {8, 2, get, "", 7, 0}, {7, 3, free, "\x011", 8, 0}}, []string{"grant of 1 by 1", "remove of 1 by 3", "grant of 2 by 2"}, false},
		"taken twice":            {[]poll{{7, 1, get, "\x011", 7, 0}, {7, 2, get, "\x011", 7, 0}, {7, 3, free, "\x011", 7, 0}}, []string{"grant of 1 by 1", "prolong of 1 by 2"}, false},
		"another lock's command": {[]poll{{7, 1, get, "\x011", 7, 0}, {7, 2, "SELECT GET_LOCK('my-b', 1)", "\x011", 7, 0}}, []string{"grant of 1 by 1"}, false},
		"the idle session ended": {[]poll{{7, 1, get, "\x011", 7, 0}, {0, 0, "", "", 0, 0}}, []string{"grant of 1 by 1", "lose of 1 by nobody, session-over"}, false},
		"the busy session ended": {
			[]poll{{7, 1, get, "\x011", 7, 0}, {7, 1, "SELECT 1", "", 0, 7}},
			[]string{"grant of 1 by 1", "lose of 1 by nobody, session-over"},
			false,
		},
		"ended before the report": {[]poll{{7, 1, get, "\x011", 0, 7}}, []string{"grant of 1 by 1", "lose of 1 by nobody, session-over"}, false},
		"ended, and passed on": {
			[]poll{{7, 1, get, "\x011", 7, 0}, {9, 3, get, "", 7, 0}, {7, 4, free, "\x011", 7, 0}, {8, 2, get, "\x011", 9, 8}},
			[]string{"grant of 1 by 1", "lose of 1 by nobody, session-over", "grant of 2 by 2", "lose of 2 by nobody, session-over", "grant of 3 by 3"},
			false,
		},
		"ended after a report":       {[]poll{{7, 1, get, "", 7, 0}, {7, 1, "", "\x011", 0, 7}}, []string{"grant of 1 by 1", "lose of 1 by nobody, session-over"}, false},
		"ended after a refusal":      {[]poll{{7, 1, get, "\x010", 0, 7}}, nil, false},
		"ended after another answer": {[]poll{{7, 1, get, "\x02xx", 0, 7}}, nil, true},
		"ended after a release":      {[]poll{{7, 1, get, "\x011", 7, 0}, {7, 2, free, "\x011", 0, 7}}, []string{"grant of 1 by 1", "lose of 1 by nobody, session-over"}, false},
		"a stranger's":               {[]poll{{0, 0, "", "", 9, 0}}, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got eventLog
			r := newRows([]string{"a", "b"}, "mysql-1", &got, t.Logf)
			r.declareNamed(map[string]string{"my-a": "a"})
			for _, p := range c.polls {
				if p.command != "" {
					r.addCommand(0, p.session, sentCommand{op: p.op, takes: takesLock([]byte(p.command))}, false)
				}
				if p.answer != "" {
					r.answer(0, p.session, mysqlPacket(p.answer))
				}
				_, answered, _ := r.beforeNamed()
				r.hold(map[string]int64{"my-a": p.holder}, answered, map[int64]bool{p.ended: true})
			}
			if !slices.Equal(got.lines, c.want) || r.observes() == c.blind {
				t.Errorf("events %q, want %q; observes %v", got.lines, c.want, r.observes())
			}
		})
	}
}

// mysqlPacket returns a packet of the protocol.
func mysqlPacket(body string) []byte { return []byte(string([]byte{byte(len(body)), 0, 0, 0}) + body) }

// An answer to GET_LOCK is text, or the bytes of a number.
func TestValuesInAnswers(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"\x010": "0", "\x011": "1", "\xfb": "NULL", "\x00\x04": "NULL",
		"\x00\x00\x01\x00\x00\x00": "1", "\x00\x00\x00\x00\x00\x00": "0", "\x0212": "", "\xfe\x00\x00\x02\x00": "", "\x00\x00\x00\x02\x00\x00\x00": "",
	} {
		answer := append(mysqlPacket("\x01"), mysqlPacket(body)...)
		if got := valueIn(append(answer, mysqlPacket("\xfe\x00\x00\x02\x00")...)); got != want {
			t.Errorf("%q is %q, want %q", body, got, want)
		}
	}
}

// Named locks end with their server's process, and no replica has them.
func TestNamedLocksEndWithTheReign(t *testing.T) {
	t.Parallel()
	var got eventLog
	r := newRows([]string{"a"}, "mysql-1", &got, t.Logf)
	r.declareNamed(map[string]string{"a": "a"})
	r.addCommand(0, 7, sentCommand{op: 1}, false)
	r.hold(map[string]int64{"a": 7}, nil, nil)
	r.become("mysql-1", nil)
	r.addCommand(1, 7, sentCommand{op: 2}, false)
	r.answer(0, 7, nil)
	if _, answered, last := r.beforeNamed(); answered != nil || last != nil {
		t.Errorf("after the restart: answered %v, holders %v", answered, last)
	}
	r.hold(map[string]int64{"a": 7}, nil, nil)
	if want := []string{"grant of 1 by 1", "lose of 1 by nobody, session-over", "grant of 2 by 2"}; !slices.Equal(got.lines, want) {
		t.Errorf("events %q, want %q", got.lines, want)
	}
}

// A prepared GET_LOCK takes a lock when it is executed.
func TestCommandsThatTakeNamedLocks(t *testing.T) {
	t.Parallel()
	var read reader
	for _, c := range []struct {
		body   string
		effect bool
		takes  string
	}{
		{"\x17\x01a", true, ""},
		{"\x03select get_lock('a', 1)", true, "\x03select get_lock('a', 1)"},
		{"\x03SELECT RELEASE_LOCK('a')", true, ""},
		{"\x16SELECT GET_LOCK(?, 1)", false, "\x16SELECT GET_LOCK(?, 1)"},
		{"\x17\x01a", true, "\x17\x01a"},
	} {
		if got := read.command(1, []byte(c.body), c.effect).takes; got != c.takes {
			t.Errorf("%q takes %q, want %q", c.body, got, c.takes)
		}
	}
}
