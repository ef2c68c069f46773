package docker

import (
	"errors"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/internal/clients"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// row returns the row of lock a with a version.
func row(version int64) *mysql.Row {
	return &mysql.Row{ID: 1, Resource: "a", Version: version, Expires: 5}
}

// The reports about a row name its grant and the operation that changed it. They are
// right after a promotion of a server that lacks changes, or has removed rows again.
func TestRows(t *testing.T) {
	t.Parallel()
	granted := auditLine{1, 7, nil, row(1)}
	for name, c := range map[string]struct {
		lines []auditLine
		found map[string]mysql.Row // of another server then; nil: no promotion
		want  []string
		blind bool
	}{
		"granted and removed": {
			[]auditLine{granted, {2, 8, row(1), nil}},
			nil,
			[]string{"grant of 10 by 10", "remove of 10 by 20"},
			false,
		},
		"removed by an operator": {
			[]auditLine{granted, {2, 6, row(1), nil}},
			nil,
			[]string{"grant of 10 by 10", "remove of 10 by nobody"},
			false,
		},
		"another lock's": {[]auditLine{{1, 7, nil, &mysql.Row{Resource: "b"}}}, nil, nil, false},
		"nobody's":       {[]auditLine{{1, 9, nil, row(1)}}, nil, nil, true},
		"still there": {
			[]auditLine{granted},
			map[string]mysql.Row{"a": *row(1)},
			[]string{"grant of 10 by 10", "promote of 0 by nobody"},
			false,
		},
		"lost": {
			[]auditLine{granted},
			map[string]mysql.Row{},
			[]string{"grant of 10 by 10", "promote of 0 by nobody", "lose of 10 by nobody"},
			false,
		},
		"there again": {
			[]auditLine{granted, {2, 8, row(1), nil}},
			map[string]mysql.Row{"a": *row(1)},
			[]string{"grant of 10 by 10", "remove of 10 by 20", "promote of 0 by nobody", "grant of 10 by nobody"},
			false,
		},
		"unheard of": {
			[]auditLine{granted},
			map[string]mysql.Row{"a": *row(3)},
			[]string{"grant of 10 by 10", "promote of 0 by nobody"},
			true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got eventLog
			r := newRows([]string{"a"}, "mysql-1", &got, t.Logf)
			r.addCommand(0, 7, sentCommand{op: 10, means: mysql.Grants}, true)
			r.addCommand(0, 8, sentCommand{op: 20, means: mysql.Grants}, true)
			r.addCommand(0, 6, sentCommand{op: operator, means: mysql.Frees}, true)
			r.addCommand(1, 7, sentCommand{op: 30, means: mysql.Grants}, true)      // for a server that is not the primary
			r.addCommand(0, 7, sentCommand{op: 10, means: mysql.Undeclared}, false) // the end of its transaction
			asked := r.ask()
			if err := r.take(func() ([]auditLine, error) { return c.lines, nil }); err != nil {
				t.Error(err)
			}
			r.await(nil, 0, asked)
			if c.found != nil {
				r.become("mysql-1b", c.found)
			}
			if !slices.Equal(got.lines, c.want) || r.observes() == c.blind {
				t.Errorf("events %q, want %q; observes %v", got.lines, c.want, r.observes())
			}
		})
	}
}

// After a restart connections have new numbers. Commands and waits of an earlier reign
// have no effect on the reports.
func TestRowsOfAnEarlierReign(t *testing.T) {
	t.Parallel()
	var got eventLog
	r := newRows([]string{"a"}, "mysql-1", &got, t.Logf)
	r.addCommand(0, 7, sentCommand{op: 10, means: mysql.Grants}, true)
	asked := r.ask()
	r.become("mysql-1", nil)
	if r.await(nil, 0, asked) {
		t.Error("changes of the earlier reign are reported")
	}
	r.addCommand(r.now(), 7, sentCommand{op: 20, means: mysql.Grants}, true)
	r.addCommand(0, 7, sentCommand{op: 30, means: mysql.Grants}, true)
	if err := r.take(func() ([]auditLine, error) { return []auditLine{{1, 7, nil, row(1)}}, nil }); err != nil {
		t.Error(err)
	}
	if want := []string{"grant of 20 by 20"}; !slices.Equal(got.lines, want) {
		t.Errorf("events %q, want %q", got.lines, want)
	}
}

// A wait for unreadable changes lasts until they can be read, or nothing is observed
// any more.
func TestRowsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	var got eventLog
	r := newRows([]string{"a"}, "mysql-1", &got, t.Logf)
	asked := r.ask()
	if err := r.take(func() ([]auditLine, error) { return nil, clients.ErrDown }); !errors.Is(err, clients.ErrDown) {
		t.Error(err)
	}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() { r.await(stop, 0, asked); close(done) }()
	select {
	case <-done:
		t.Error("unread changes count as reported")
	default:
	}
	close(stop)
	<-done
	r.drop("it is over")
	r.await(nil, 0, asked)
}
