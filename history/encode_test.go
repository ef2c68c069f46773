package history_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

func TestEncodeWritesTheFieldsInTheOrderOfTheFormat(t *testing.T) {
	t.Parallel()
	client := history.Process{N: 2}
	for _, c := range []struct {
		name  string
		entry history.Entry
		want  string
	}{
		{
			"an invoke",
			history.Entry{Index: 7, Time: 1203 * time.Millisecond, Client: "c2", Process: client, Type: history.Invoke, F: history.Acquire, Lock: "a"},
			`{"index":7,"time":1203000000,"client":"c2","process":2,"type":"invoke","f":"acquire","lock":"a"}`,
		},
		{
			"an ok with grant, token and deadline",
			history.Entry{
				Index: 9, Time: 1207 * time.Millisecond, Client: "c2", Process: client, Type: history.OK, F: history.Acquire,
				Lock: "a", Grant: 5, Token: 1<<63 - 1, ValidUntil: 11203 * time.Millisecond,
			},
			`{"index":9,"time":1207000000,"client":"c2","process":2,"type":"ok","f":"acquire","lock":"a","grant":5,"token":9223372036854775807,"valid_until":11203000000}`,
		},
		{
			"zero is not absence",
			history.Entry{
				Process: history.Process{Name: history.Resource}, Type: history.Event, F: history.Write,
				Value: history.Some(0), Was: history.Some(-1), By: history.Some(0), Op: history.Some(0), Hits: history.Some(0),
			},
			`{"index":0,"time":0,"process":"resource","type":"event","f":"write","value":0,"was":-1,"by":0,"op":0,"hits":0}`,
		},
		{
			"a fault names its victims",
			history.Entry{
				Index: 12, Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: "delay",
				ID: 1, On: []string{"c2", "redis-1"}, Point: "c2 release: before last", Amount: time.Second,
			},
			`{"index":12,"time":0,"process":"nemesis","type":"info","f":"delay","id":1,"on":["c2","redis-1"],"point":"c2 release: before last","amount_ns":1000000000}`,
		},
		{
			"text is quoted for JSON",
			history.Entry{Process: client, Type: history.Info, F: history.Release, Error: "timeout", Text: "a \"b\" \\ \n\x01 <ü>\xff", Key: "k"},
			`{"index":0,"time":0,"process":2,"type":"info","f":"release","error":"timeout","text":"a \"b\" \\ \u000a\u0001 <ü>�","key":"k"}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var b strings.Builder
			if err := history.Encode(&b, &history.History{Entries: []history.Entry{c.entry}}); err != nil {
				t.Fatal(err)
			}
			if _, got, _ := strings.Cut(b.String(), "\n"); got != c.want+"\n" {
				t.Errorf("got  %swant %s", got, c.want)
			}
		})
	}
}

func TestEncodeRefusesWhatTheFormatCannotExpress(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entry history.Entry
		want  string
	}{
		{history.Entry{Index: 3, Type: history.OK, Token: 1 << 63}, "history: entry 3: token 9223372036854775808 is larger than 2^63-1"},
		{history.Entry{Index: 4}, "history: entry 4: unknown type 0"},
		{history.Entry{Index: 5, Type: 9}, "history: entry 5: unknown type 9"},
	} {
		err := history.Encode(&bytes.Buffer{}, &history.History{Entries: []history.Entry{c.entry}})
		if err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestTheHeaderSaysWhichFormatItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header history.Header
		want   string
	}{
		{history.Header{}, `{"lockcheck":1,"fencing":false}`},
		{history.Header{Fencing: history.FencingAll}, `{"lockcheck":1,"fencing":true}`},
		{history.Header{Fencing: history.FencingWrites}, `{"lockcheck":1,"fencing":"writes"}`},
		{
			history.Header{Version: "v1", Lock: "redis-set-lua", On: "sim", Seed: 7, LeaseMS: 10000, Promises: []string{"exclusion"}, Faults: []string{"pause"}},
			`{"lockcheck":1,"version":"v1","lock":"redis-set-lua","on":"sim","seed":7,"lease_ms":10000,"promises":["exclusion"],"fencing":false,"faults":["pause"]}`,
		},
	} {
		var b strings.Builder
		if err := history.Encode(&b, &history.History{Header: c.header}); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want+"\n" {
			t.Errorf("got  %swant %s", b.String(), c.want)
		}
	}
}

// lineByLine counts the calls of a Writer.
type lineByLine struct {
	lines []string
	err   error
}

func (w *lineByLine) Write(b []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.lines = append(w.lines, string(b))
	return len(b), nil
}

func TestAWriterPassesOnEachLineByItself(t *testing.T) {
	t.Parallel()
	var out lineByLine
	w, err := history.NewWriter(&out, history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := w.Append(history.Entry{Index: i + 1, Process: history.Process{N: 1}, Type: history.Invoke, F: history.Try}); err != nil {
			t.Fatal(err)
		}
	}
	if len(out.lines) != 4 {
		t.Errorf("4 lines came in %d writes: %q", len(out.lines), out.lines)
	}
	out.err = errors.New("disk full")
	if err := w.Append(history.Entry{Type: history.Event}); !errors.Is(err, out.err) {
		t.Errorf("got %v, want the error of the writer below", err)
	}
}
