package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/history"
)

func decode(t *testing.T, text string) (*history.History, []history.Warning) {
	t.Helper()
	h, warnings, err := history.Decode(strings.NewReader(text), "file.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return h, warnings
}

func TestAReaderFillsInWhatARecorderLeavesOut(t *testing.T) {
	t.Parallel()
	h, _ := decode(t, `
{"process":3,"type":"invoke","f":"acquire","lock":"a"}
{"process":3,"type":"ok","f":"acquire","time":5}
{"process":3,"type":"invoke","f":"write","lock":"a","value":1}
{"process":3,"type":"ok","f":"write","extra":{"ignored":[1]}}
{"process":3,"type":"event","f":"valid","lock":"a","valid_until":9}
{"process":4,"client":"c4","type":"invoke","f":"release","lock":"a"}
{"process":4,"type":"fail","f":"release","time":7}
{"process":3,"type":"invoke","f":"release","lock":"a"}
{"process":3,"type":"info","f":"release","error":"timeout"}
`)
	p3, p4 := history.Process{N: 3}, history.Process{N: 4}
	want := []history.Entry{
		{Index: 1, Client: "3", Process: p3, Type: history.Invoke, F: history.Acquire, Lock: "a"},
		{Index: 2, Client: "3", Process: p3, Type: history.OK, F: history.Acquire, Lock: "a", Time: 5, Grant: 1},
		{Index: 3, Client: "3", Process: p3, Type: history.Invoke, F: history.Write, Lock: "a", Time: 5, Grant: 1, Value: history.Some(1)},
		{Index: 4, Client: "3", Process: p3, Type: history.OK, F: history.Write, Lock: "a", Time: 5, Grant: 1},
		{Index: 5, Client: "3", Process: p3, Type: history.Event, F: history.Valid, Lock: "a", Time: 5, Grant: 1, ValidUntil: 9},
		{Index: 6, Client: "c4", Process: p4, Type: history.Invoke, F: history.Release, Lock: "a", Time: 5},
		{Index: 7, Client: "c4", Process: p4, Type: history.Fail, F: history.Release, Lock: "a", Time: 7},
		{Index: 8, Client: "3", Process: p3, Type: history.Invoke, F: history.Release, Lock: "a", Time: 7, Grant: 1},
		{Index: 9, Client: "3", Process: p3, Type: history.Info, F: history.Release, Lock: "a", Time: 7, Grant: 1, Error: "timeout"},
	}
	if h.Header.Format != 0 {
		t.Errorf("a bare history has format %d", h.Header.Format)
	}
	for i := range want {
		if !reflect.DeepEqual(h.Entries[i], want[i]) {
			t.Errorf("entry %d\n got %+v\nwant %+v", i+1, h.Entries[i], want[i])
		}
	}
}

func TestAGrantThatNobodyNamesIsTheInnermostOneOfThatLock(t *testing.T) {
	t.Parallel()
	h, _ := decode(t, `{"lockcheck":1}
{"index":0,"process":1,"type":"invoke","f":"acquire","lock":"a"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"try","lock":"b"}
{"process":1,"type":"ok","f":"try"}
{"process":1,"type":"invoke","f":"acquire","lock":"a"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"release","lock":"a"}
{"process":1,"type":"ok","f":"release"}
{"process":1,"type":"invoke","f":"release","lock":"a"}
{"process":1,"type":"ok","f":"release"}
{"process":1,"type":"invoke","f":"extend","lock":"b"}
{"process":"redis","type":"event","f":"remove","by":0,"op":0}
`)
	var got []int
	for _, e := range h.Entries {
		if e.Type == history.Invoke {
			got = append(got, e.Grant)
		}
	}
	if want := []int{0, 0, 0, 3, 1, 2}; !reflect.DeepEqual(got, want) {
		t.Errorf("the invokes name the grants %v, want %v", got, want)
	}
	if e := h.Entries[0]; e.Index != 0 {
		t.Errorf("index 0 became %d", e.Index)
	}
	if e := h.Entries[11]; !e.By.Set || e.By.V != 0 || !e.Op.Set {
		t.Errorf("by 0 and op 0 became %+v and %+v", e.By, e.Op)
	}
}

// Each line has the grant that it names or means, or 0.
func TestWhichGrantALineMeans(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []int
	}{
		// A loss gets the grant that the process has: none during a release, or after a
		// loss.
		{"a grant whose release failed is released the next time", `
{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"release"}
{"process":1,"type":"event","f":"valid"}
{"process":1,"type":"fail","f":"release"}
{"process":1,"type":"invoke","f":"release"}
{"process":1,"type":"event","f":"lost"}
{"process":1,"type":"ok","f":"release"}
{"process":1,"type":"event","f":"lost"}
{"process":1,"type":"event","f":"lost"}
{"process":1,"type":"invoke","f":"release"}
`, []int{0, 1, 0, 2, 2, 1, 2, 2, 0, 2, 0, 0, 1}},
		{"an extend that is ok is one of the innermost grant", `
{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"acquire"}
{"process":1,"type":"ok","f":"acquire"}
{"process":1,"type":"invoke","f":"extend"}
{"process":1,"type":"ok","f":"extend"}
`, []int{0, 1, 0, 2, 0, 2}},
		{"a client that goes on after an info has what it had", `
{"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"client":"c1","process":1,"type":"ok","f":"acquire"}
{"client":"c1","process":1,"type":"invoke","f":"write","value":1}
{"client":"c1","process":1,"type":"info","f":"write"}
{"client":"c2","process":2,"type":"invoke","f":"release"}
{"client":"c1","process":3,"type":"invoke","f":"release"}
{"client":"c1","process":3,"type":"info","f":"release"}
{"client":"c1","process":4,"type":"invoke","f":"release"}
`, []int{0, 1, 1, 1, 0, 1, 1, 0}},
		// What one process of a client released may be what another one got.
		{"nobody guesses a grant that another process may have released", `
{"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"client":"c1","process":1,"type":"ok","f":"acquire"}
{"client":"c1","process":2,"type":"invoke","f":"release"}
{"client":"c1","process":2,"type":"ok","f":"release"}
{"client":"c1","process":1,"type":"event","f":"lost"}
{"client":"c1","process":1,"type":"invoke","f":"extend"}
{"client":"c1","process":1,"type":"info","f":"extend"}
{"client":"c1","process":3,"type":"invoke","f":"release"}
{"client":"c2","process":4,"type":"invoke","f":"acquire"}
{"client":"c2","process":4,"type":"ok","f":"acquire"}
{"client":"c2","process":5,"type":"invoke","f":"release","grant":2}
{"client":"c2","process":5,"type":"ok","f":"release"}
{"client":"c2","process":4,"type":"invoke","f":"release"}
`, []int{0, 1, 0, 0, 0, 0, 0, 0, 0, 2, 2, 2, 0}},
		{"not even one that was still asked for", `
{"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"client":"c1","process":2,"type":"invoke","f":"release"}
{"client":"c1","process":1,"type":"ok","f":"acquire"}
{"client":"c1","process":2,"type":"ok","f":"release"}
{"client":"c1","process":1,"type":"invoke","f":"release"}
`, []int{0, 0, 1, 0, 0}},
		{"a release of another process counts, also after an info", `
{"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"client":"c1","process":1,"type":"ok","f":"acquire"}
{"client":"c1","process":2,"type":"invoke","f":"release","grant":1}
{"client":"c1","process":1,"type":"invoke","f":"read"}
{"client":"c1","process":1,"type":"info","f":"read"}
{"client":"c1","process":2,"type":"ok","f":"release"}
{"client":"c1","process":3,"type":"invoke","f":"release"}
`, []int{0, 1, 1, 1, 1, 1, 0}},
		{"also if another release of the grant failed meanwhile", `
{"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"client":"c1","process":1,"type":"ok","f":"acquire"}
{"client":"c1","process":2,"type":"invoke","f":"release","grant":1}
{"client":"c1","process":3,"type":"invoke","f":"release","grant":1}
{"client":"c1","process":3,"type":"fail","f":"release"}
{"client":"c1","process":1,"type":"invoke","f":"release"}
{"client":"c1","process":1,"type":"fail","f":"release"}
{"client":"c1","process":2,"type":"ok","f":"release"}
{"client":"c1","process":1,"type":"invoke","f":"release"}
`, []int{0, 1, 1, 1, 1, 1, 1, 1, 0}},
		{"a grant that was released before its answer came is not meant later", `
{"client":"c1","process":1,"type":"invoke","f":"acquire","grant":7}
{"client":"c1","process":2,"type":"invoke","f":"release","grant":7}
{"client":"c1","process":2,"type":"ok","f":"release"}
{"client":"c1","process":1,"type":"ok","f":"acquire"}
{"client":"c1","process":1,"type":"invoke","f":"release"}
`, []int{7, 7, 7, 7, 0}},
		{"a process has got what another one has shown", `
{"client":"c1","process":1,"type":"invoke","f":"acquire","grant":1}
{"client":"c1","process":1,"type":"ok","f":"acquire"}
{"client":"c1","process":2,"type":"invoke","f":"acquire","grant":2}
{"client":"c1","process":1,"type":"event","f":"valid","grant":2}
{"client":"c1","process":1,"type":"event","f":"lost"}
{"client":"c1","process":2,"type":"info","f":"acquire"}
{"client":"c1","process":3,"type":"invoke","f":"release"}
`, []int{1, 1, 2, 2, 1, 2, 2}},
		{"a new grant has a number that no line named", `
{"client":"c1","process":1,"type":"invoke","f":"acquire","grant":1}
{"client":"c1","process":1,"type":"info","f":"acquire"}
{"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"client":"c2","process":2,"type":"ok","f":"acquire"}
`, []int{1, 1, 0, 2}},
	} {
		h, _ := decode(t, c.text)
		var got []int
		for _, e := range h.Entries {
			got = append(got, e.Grant)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: the lines have the grants %v, want %v", c.name, got, c.want)
		}
	}
}

func TestGrantsOfManyLocksAreToldApart(t *testing.T) {
	t.Parallel()
	const locks = 200
	var b strings.Builder
	say := func(kind, f string, lock, grant int) {
		fmt.Fprintf(&b, `{"process":1,"type":"%s","f":"%s","lock":"%d"`, kind, f, lock)
		if grant > 0 {
			fmt.Fprintf(&b, `,"grant":%d`, grant)
		}
		b.WriteString("}\n")
	}
	for lock := range locks {
		say("invoke", "acquire", lock, 0)
		say("ok", "acquire", lock, lock+1)
	}
	for lock := range locks {
		say("invoke", "release", (lock+1)%locks, lock+1) // by its grant, whatever lock it is
		say("ok", "release", lock, lock+1)
		say("invoke", "extend", lock, 0)
		say("fail", "extend", lock, 0)
	}
	h, _ := decode(t, b.String())
	for _, e := range h.Entries {
		if e.F == history.Extend && e.Grant != 0 {
			t.Fatalf("an extend of lock %s is for grant %d, which was released", e.Lock, e.Grant)
		}
	}
}

func TestDecodeSaysWhichLineIsWrongAndWhy(t *testing.T) {
	t.Parallel()
	const good = `{"process":1,"type":"invoke","f":"acquire"}` + "\n"
	for _, c := range []struct{ name, text, want string }{
		{"no JSON", good + "{\n", "file.jsonl:2: not JSON: unexpected end of JSON input"},
		{"no object", good + "[]\n", "file.jsonl:2: want a JSON object, got array"},
		{"blank lines count", "\n\n" + good + "\n7\n", "file.jsonl:5: want a JSON object, got number"},
		{"no type", `{"process":1,"f":"acquire"}` + "\n", `file.jsonl:1: "type" is missing`},
		{"strange type", `{"process":1,"type":"done","f":"acquire"}` + "\n", `file.jsonl:1: "type" is "done": want invoke, ok, fail, info or event`},
		{"no f", `{"process":1,"type":"ok"}` + "\n", `file.jsonl:1: "f" is missing`},
		{"no process", `{"type":"ok","f":"acquire"}` + "\n", `file.jsonl:1: "process" is missing`},
		{"a process that is too large", `{"process":99999999999999999999,"type":"ok","f":"acquire"}` + "\n", `file.jsonl:1: "process" is 99999999999999999999: it does not fit 64 bits`},
		{"fractional process", `{"process":1.5,"type":"ok","f":"acquire"}` + "\n", `file.jsonl:1: "process" is 1.5: want an integer or a name`},
		{"empty process", `{"process":"","type":"ok","f":"acquire"}` + "\n", `file.jsonl:1: "process" is empty`},
		{"fractional time", `{"process":1,"type":"ok","f":"acquire","time":1.5}` + "\n", `file.jsonl:1: "time": want an integer, got number 1.5`},
		{"list as text", `{"process":1,"type":"ok","f":"acquire","lock":[]}` + "\n", `file.jsonl:1: "lock": want a string, got array`},
		{"token too large", `{"process":1,"type":"ok","f":"acquire","token":9223372036854775808}` + "\n", `file.jsonl:1: "token" is 9223372036854775808: want an integer from 0 to 2^63-1`},
		{"negative token", `{"process":1,"type":"ok","f":"acquire","token":"-1"}` + "\n", `file.jsonl:1: "token" is "-1": want an integer from 0 to 2^63-1`},
		{"another format", `{"lockcheck":2}` + "\n", `file.jsonl:1: "lockcheck" is 2: this lockcheck reads format 1`},
		{"a lease that is negative", `{"lockcheck":1,"lease_ms":-1}` + "\n", `file.jsonl:1: "lease_ms" is -1: want milliseconds from 0 to 31536000000`},
		{"a lease that is absurdly long", `{"lockcheck":1,"lease_ms":10000000000000}` + "\n", `file.jsonl:1: "lease_ms" is 10000000000000: want milliseconds from 0 to 31536000000`},
		{"a hand-over in the past", "\n" + `{"lockcheck":1,"handover_ms":-5}` + "\n", `file.jsonl:2: "handover_ms" is -5: want milliseconds from 0 to 31536000000`},
		{"strange header", `{"lockcheck":1,"fencing":"some"}` + "\n", `file.jsonl:1: "fencing" is "some": want false, true or "writes"`},
		{"what cannot follow", `{"lockcheck":1}` + "\n" + good + good, "file.jsonl:3: process 1 invokes acquire while its acquire at index 1 is open"},
		{"a first line that is cut off", `{"lockche`, "file.jsonl:1: the file is cut off in its first line"},
		{
			"named and unnamed grants that collide",
			good + `{"process":1,"type":"ok","f":"acquire"}` + "\n" + `{"process":2,"type":"invoke","f":"try"}` + "\n" + `{"process":2,"type":"ok","f":"try","grant":1}` + "\n",
			"file.jsonl:4: grant 1 already belongs to the acquire at index 2: give each acquire a grant of its own, or none to any of them",
		},
		{
			"two acquires with one name",
			`{"process":1,"type":"invoke","f":"acquire","grant":7}` + "\n" + `{"process":1,"type":"ok","f":"acquire"}` + "\n" + `{"process":2,"type":"invoke","f":"try","grant":7}` + "\n",
			"file.jsonl:3: grant 7 already belongs to the acquire at index 1: give each acquire a grant of its own, or none to any of them",
		},
		{
			"two open acquires with one name",
			`{"process":1,"type":"invoke","f":"acquire","grant":7}` + "\n" + `{"process":2,"type":"invoke","f":"acquire"}` + "\n" + `{"process":2,"type":"ok","f":"acquire","grant":7}` + "\n",
			"file.jsonl:3: grant 7 already belongs to the acquire at index 1: give each acquire a grant of its own, or none to any of them",
		},
		{"no UTF-8", good + `{"process":1,"type":"ok","f":"acquire","lock":"` + "\xff" + `"}` + "\n", "file.jsonl:2: not UTF-8: byte 0xff at column 48"},
		{"a header that is no UTF-8", `{"lockcheck":1,"lock":"` + "\xff" + `"}` + "\n", "file.jsonl:1: not UTF-8: byte 0xff at column 24"},
		{"a line that is too long", good + `{"text":"` + strings.Repeat("x", 1<<20) + `"}` + "\n", "file.jsonl:2: the line is longer than 1 MiB: is this a history?"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := history.Decode(strings.NewReader(c.text), "file.jsonl")
			if err == nil || err.Error() != c.want {
				t.Fatalf("got  %v\nwant %s", err, c.want)
			}
			if _, ok := errors.AsType[*history.SyntaxError](err); !ok {
				t.Errorf("it is a %T", err)
			}
		})
	}
}

func TestALastLineThatIsCutOffIsAWarning(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		entries    int
		warning    string
	}{
		{"cut off", `{"lockcheck":1}` + "\n" + `{"process":1,"type":"inv`, 0, "file.jsonl:2: the last line is cut off and ignored"},
		{"whole, but without its newline", `{"lockcheck":1}` + "\n" + `{"process":1,"type":"invoke","f":"try"}`, 1, ""},
		{"nothing at all", "", 0, ""},
		{"from Windows", "\xef\xbb\xbf{\"lockcheck\":1}\r\n{\"process\":1,\"type\":\"invoke\",\"f\":\"try\"}\r\n", 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, warnings := decode(t, c.text)
			if len(h.Entries) != c.entries {
				t.Errorf("it has %d entries, want %d", len(h.Entries), c.entries)
			}
			switch {
			case c.warning == "" && len(warnings) > 0, c.warning != "" && (len(warnings) != 1 || warnings[0].String() != c.warning):
				t.Errorf("the warnings are %v, want %q", warnings, c.warning)
			}
		})
	}
}

func TestTokensMayBeStrings(t *testing.T) {
	t.Parallel()
	h, _ := decode(t, `{"process":1,"type":"invoke","f":"try"}
{"process":1,"type":"ok","f":"try","token":"9223372036854775807","valid_until":3,"time":2}
`)
	if got := h.Entries[1]; got.Token != 1<<63-1 || got.ValidUntil != 3*time.Nanosecond {
		t.Errorf("got %+v", got)
	}
}

func TestALongLineIsReadWhole(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("ü", 400<<10)
	h, _ := decode(t, `{"process":1,"type":"invoke","f":"try","text":"`+text+`"}`+"\n"+`{"process":2,"type":"invoke","f":"try"}`)
	if len(h.Entries) != 2 || h.Entries[0].Text != text {
		t.Errorf("%d entries, a text of %d bytes", len(h.Entries), len(h.Entries[0].Text))
	}
}

func TestAReaderThatBreaksInTheMiddleOfALineIsNoCrashOfTheWriter(t *testing.T) {
	t.Parallel()
	text := `{"lockcheck":1}` + "\n" + `{"process":1,"type":"inv`
	_, warnings, err := history.Decode(io.MultiReader(strings.NewReader(text), broken{}), "file.jsonl")
	if !errors.Is(err, os.ErrPermission) || len(warnings) > 0 {
		t.Errorf("got %v, and the warnings %v", err, warnings)
	}
}

func TestALineCanBeTranslated(t *testing.T) {
	t.Parallel()
	in, err := history.NewReader(strings.NewReader(`{"process":1,"type":"invoke","f":"lock"}`+"\nhuh\n"), "file.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	in.Translate(func(line []byte, e *history.Entry, given *history.Given, err error) error {
		if string(line) == "huh\n" && err != nil {
			return errors.New("no word of ours")
		}
		e.F, e.Index, given.Index = history.Acquire, 7, true
		return err
	})
	e, err := in.Next()
	if err != nil || e.F != history.Acquire || e.Index != 7 || e.Client != "1" {
		t.Errorf("got %+v, %v", e, err)
	}
	if _, err := in.Next(); err == nil || err.Error() != "file.jsonl:2: no word of ours" {
		t.Errorf("got %v", err)
	}
}

func TestErrorsOfTheReaderBelowNameTheFile(t *testing.T) {
	t.Parallel()
	_, _, err := history.Decode(io.MultiReader(strings.NewReader("{\"lockcheck\":1}\n"), broken{}), "file.jsonl")
	if !errors.Is(err, os.ErrPermission) || !strings.HasPrefix(err.Error(), "file.jsonl: ") {
		t.Errorf("got %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, os.ErrPermission }

// FuzzDecode reads any file: it must be decoded or refused. A decoded history
// must survive encoding and decoding.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"lockcheck":1,"lease_ms":10000}` + "\n" + `{"process":1,"type":"invoke","f":"acquire"}` + "\n" + `{"process":1,"type":"ok","f":"acquire","token":"7"}` + "\n"))
	f.Add([]byte(`{"process":"nemesis","type":"info","f":"pause","id":1,"on":["c1"]}` + "\n" + `{"process":1,"type":"event","f":"lost"`))
	f.Add([]byte(`{"index":0,"process":0,"type":"invoke","f":"release","grant":-1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, _, err := history.Decode(bytes.NewReader(data), "fuzz")
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := history.Encode(&b, h); err != nil {
			t.Fatal(err)
		}
		again, _, err := history.Decode(&b, "again")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(h.Entries, again.Entries) {
			t.Errorf("got  %+v\nwant %+v", again.Entries, h.Entries)
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	text := `{"index":9,"time":1207000000,"client":"c2","process":2,"type":"invoke","f":"release","lock":"a","grant":5}` + "\n" +
		`{"index":10,"time":1208000000,"client":"c2","process":2,"type":"ok","f":"release","lock":"a","grant":5}` + "\n"
	b.SetBytes(int64(len(text)))
	r, err := history.NewReader(endless(text), "bench")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for range 2 {
			if _, err := r.Next(); err != nil {
				b.Fatal(err)
			}
		}
	}
}

func endless(text string) io.Reader { return &loop{text: text} }

type loop struct {
	text string
	at   int
}

func (l *loop) Read(b []byte) (int, error) {
	n := copy(b, l.text[l.at:])
	l.at = (l.at + n) % len(l.text)
	return n, nil
}

func BenchmarkAppend(b *testing.B) {
	w, err := history.NewWriter(io.Discard, history.Header{})
	if err != nil {
		b.Fatal(err)
	}
	e := history.Entry{Index: 9, Time: 1207000000, Client: "c2", Process: history.Process{N: 2}, Type: history.OK, F: history.Acquire, Lock: "a", Grant: 5, Token: 34}
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Append(e); err != nil {
			b.Fatal(err)
		}
	}
}
