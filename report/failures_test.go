package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/report"
)

// A story has the errors that client libraries report, with their numbers, and late
// answers. Errors that differ in numbers only are of one kind.
func TestAStoryCountsTheErrorsOfClients(t *testing.T) {
	t.Parallel()
	h := &history.History{Header: history.Header{Format: history.Format, LeaseMS: 1000, On: "docker"}}
	add := func(e history.Entry) {
		e.Index, e.Client, e.Lock = len(h.Entries)+1, "c1", "a"
		h.Entries = append(h.Entries, e)
	}
	process := 1
	for i := range 1545 {
		add(history.Entry{Process: history.Process{N: process}, Type: history.Invoke, F: history.Acquire})
		e := history.Entry{Process: history.Process{N: process}, Type: history.Fail, F: history.Acquire, Error: "unavailable", Text: "zk: trying to acquire a lock twice"}
		switch i {
		case 1, 2:
			e.Type, e.Error, e.Text = history.Info, "unknown", fmt.Sprintf("unknown: reset by port 400%d", i)
			process++
		case 3:
			e.Error, e.Text = history.ErrHeld, ""
		case 4:
			e.Type, e.Error, e.Text = history.Info, history.ErrTimeout, "no answer in time"
			process++
		}
		add(e)
	}
	add(history.Entry{Process: history.Process{N: process}, Type: history.Event, F: history.Late, Op: history.Some(9), Text: "acquire answered late: ok"})
	if err := history.Check(h); err != nil {
		t.Fatal(err)
	}
	for on, want := range map[string]bool{"docker": true, "sim": false, "": false} {
		h.Header.On = on
		var b strings.Builder
		if err := report.Story(&b, h, nil, report.Options{}); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			"– acquire failed 1,541 times: zk: trying to acquire a lock twice",
			"– acquire ended, its outcome unknown, 2 times: reset by port 4001",
			"– acquire was answered late 1 time: ok",
		} {
			if strings.Contains(b.String(), line) != want {
				t.Errorf("on %q, %s: want %v\n%s", on, line, want, b.String())
			}
		}
		if strings.Contains(b.String(), "no answer in time") {
			t.Error("it repeats what every timeout says")
		}
	}
}
