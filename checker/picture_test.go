package checker

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/history"
)

// drawn returns a history in which n clients get the lock, one after the other; the
// last but one does not release.
func drawn(n int) *history.History {
	h := &history.History{Header: history.Header{Format: history.Format}}
	add := func(p int, t history.Type, f string) {
		h.Entries = append(h.Entries, history.Entry{
			Index: len(h.Entries) + 1, Client: fmt.Sprint("c", p), Process: history.Process{N: p}, Type: t, F: f, Grant: p,
		})
	}
	for p := 1; p <= n; p++ {
		add(p, history.Invoke, history.Acquire)
		add(p, history.OK, history.Acquire)
		if p < n-1 {
			add(p, history.Invoke, history.Release)
			add(p, history.OK, history.Release)
		}
	}
	return h
}

func TestThePictureShowsWhatIsAroundTheWitness(t *testing.T) {
	h := drawn(500)
	v := verdictOn(Judge(h), Exclusion)
	if v.Outcome != Violated {
		t.Fatalf("%+v", v)
	}
	var page bytes.Buffer
	if err := Picture(h, &v, &page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<html", "c499 acquire → ok", "c500 acquire → ok", "c499 holds"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("%q is not drawn", want)
		}
	}
	if strings.Contains(page.String(), "c498") {
		t.Error("what is not around the witness is drawn as well")
	}
}

func TestThePictureSaysWhyItIsNotDrawn(t *testing.T) {
	for _, tt := range []struct {
		clients  int
		property Property
		want     string // "": it is drawn
	}{
		{3, Exclusion, ""},
		{500, Exclusion, "are too many to draw"},
		{3, Resource, "no operation to draw"},
		{3, Fencing, "fencing is not what Porcupine judges"},
	} {
		var page bytes.Buffer
		err := Picture(drawn(tt.clients), &Verdict{Property: tt.property, Outcome: Valid}, &page)
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || page.Len() > 0) {
			t.Errorf("%s of %d clients: %v, and %d bytes", tt.property, tt.clients, err, page.Len())
		}
	}
	for _, p := range Properties {
		if want := p == Exclusion || p == LeaseExclusion || p == Resource; Drawable(p) != want {
			t.Errorf("%s can be drawn: %v", p, !want)
		}
	}
}
