package docs

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
)

// TestTheHistoryInEDNIsReadAsThePageSays reads and judges the EDN history of record.md.
func TestTheHistoryInEDNIsReadAsThePageSays(t *testing.T) {
	t.Parallel()
	in, err := formats.NewReader(strings.NewReader(snippet(t, "record.md", "edn")), "record.md", formats.Reading{})
	if err != nil {
		t.Fatal(err)
	}
	h := &history.History{Header: in.Header()}
	for e, err := in.Next(); !errors.Is(err, io.EOF); e, err = in.Next() {
		if err != nil {
			t.Fatal(err)
		}
		h.Add(e)
	}
	if len(h.Entries) != 7 || in.Line() != 7 || len(in.Warnings()) > 0 {
		t.Fatalf("%d entries, the last one on line %d, and the warnings %v", len(h.Entries), in.Line(), in.Warnings())
	}
	if e := h.Entries[3]; e.Client != "c2" || e.Lock != "a" || e.Error != "already-held" {
		t.Errorf("line 4 says %+v", e)
	}
	if e := h.Entries[4]; len(e.On) != 1 || e.On[0] != "n1" {
		t.Errorf("line 5 says %+v", e)
	}
	for _, v := range checker.JudgeBoth(h) {
		if v.Property == checker.Exclusion && v.Outcome != checker.Valid {
			t.Errorf("exclusion is %s: %s", v.Outcome, v.Reason)
		}
	}
}

// TestTheMessagesOfThePageAreRead reads the messages of record.md.
func TestTheMessagesOfThePageAreRead(t *testing.T) {
	t.Parallel()
	m, err := history.DecodeMessages(strings.NewReader("{\"messages\":1}\n" + snippet(t, "record.md", "json")))
	if err != nil || len(m.List) != 2 || m.List[0].Arrived == 0 || !m.List[1].Lost {
		t.Errorf("%+v, %v", m, err)
	}
}
