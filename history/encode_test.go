package history_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

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

func TestWhatIsEncodedDecodesToTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := &history.History{Header: anyHeader().Draw(t, "header"), Entries: anyEntries(t)}
		var b bytes.Buffer
		if err := history.Encode(&b, h); err != nil {
			t.Fatal(err)
		}
		got, warnings, err := history.Decode(bytes.NewReader(b.Bytes()), "file")
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%v %v\n%s", err, warnings, b.Bytes())
		}
		if !reflect.DeepEqual(got, h) {
			t.Fatalf("got  %+v\nwant %+v", got, h)
		}
		var again bytes.Buffer
		if err := history.Encode(&again, got); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Fatalf("the second time it reads\n%s, %v", again.Bytes(), err)
		}
	})
}

func anyHeader() *rapid.Generator[history.Header] {
	return rapid.Custom(func(t *rapid.T) history.Header {
		return history.Header{
			Format:  history.Format,
			Version: rapid.String().Draw(t, "version"),
			Lock:    rapid.String().Draw(t, "lock"),
			Seed:    rapid.Uint64().Draw(t, "seed"),
			LeaseMS: rapid.Int64Range(0, 1e9).Draw(t, "lease"),
			Fencing: rapid.SampledFrom([]history.Fencing{history.FencingOff, history.FencingAll, history.FencingWrites}).Draw(t, "fencing"),
			Faults:  list(t),
		}
	})
}

func list(t *rapid.T) []string {
	l := rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "list")
	if len(l) == 0 {
		return nil
	}
	return l
}

func maybe(t *rapid.T, label string) history.Opt {
	if rapid.Bool().Draw(t, label+"?") {
		return history.Some(rapid.Int64().Draw(t, label))
	}
	return history.Opt{}
}

// earlier returns one of the indices, or no index.
func earlier(t *rapid.T, label string, indices []int64) history.Opt {
	if len(indices) == 0 || !rapid.Bool().Draw(t, label+"?") {
		return history.Opt{}
	}
	return history.Some(rapid.SampledFrom(indices).Draw(t, label))
}

// anyEntries returns consistent entries with all fields filled in.
func anyEntries(t *rapid.T) []history.Entry {
	var (
		entries []history.Entry
		now     time.Duration
		index   = rapid.IntRange(0, 3).Draw(t, "first index")
		invokes []int64 // their indices
		open    = map[int]history.Entry{}
		retired = map[int]bool{}
		grant   = 0
	)
	for range rapid.IntRange(0, 30).Draw(t, "entries") {
		now += time.Duration(rapid.Int64Range(0, 1e9).Draw(t, "step"))
		index += rapid.IntRange(1, 3).Draw(t, "gap")
		n := rapid.IntRange(0, 4).Draw(t, "process")
		var e history.Entry
		switch invoke, is := open[n]; {
		case rapid.IntRange(0, 3).Draw(t, "named") == 0 || retired[n]:
			e = history.Entry{
				Process: history.Process{Name: rapid.StringN(1, 5, -1).Draw(t, "name")},
				Type:    rapid.SampledFrom([]history.Type{history.Info, history.Event}).Draw(t, "type"),
				F:       rapid.StringN(1, 5, -1).Draw(t, "f"), Grant: rapid.IntRange(0, 9).Draw(t, "of"),
				Key: rapid.String().Draw(t, "key"), By: earlier(t, "by", invokes), Op: earlier(t, "op", invokes), ID: rapid.Int().Draw(t, "id"), On: list(t),
				Point: rapid.String().Draw(t, "point"), Hits: maybe(t, "hits"), Was: maybe(t, "was"),
				Amount: time.Duration(rapid.Int64().Draw(t, "amount")),
			}
		case is:
			e = invoke
			e.Type = rapid.SampledFrom([]history.Type{history.OK, history.Fail, history.Info}).Draw(t, "type")
			e.Error, e.Text = rapid.String().Draw(t, "error"), rapid.String().Draw(t, "text")
			if e.Type == history.OK && (e.F == history.Acquire || e.F == history.Try) {
				grant++
				e.Grant = grant
				e.Token = rapid.Uint64Max(1<<63-1).Draw(t, "token")
				e.ValidUntil = time.Duration(rapid.Int64().Draw(t, "until"))
			}
			retired[n] = e.Type == history.Info
			delete(open, n)
		default:
			e = history.Entry{
				Client: fmt.Sprintf("c%d", n), Process: history.Process{N: n}, Type: history.Invoke,
				F:    rapid.SampledFrom([]string{history.Acquire, history.Try, history.Release, history.Extend, history.Read, history.Write}).Draw(t, "f"),
				Lock: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "lock"), Value: maybe(t, "value"),
			}
			if e.F != history.Acquire && e.F != history.Try {
				e.Grant = rapid.IntRange(1, 9).Draw(t, "grant")
			}
			open[n] = e
			invokes = append(invokes, int64(index))
		}
		e.Index, e.Time = index, now
		entries = append(entries, e)
	}
	return entries
}
