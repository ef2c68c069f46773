package formats_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

func encode(t fataler, h *history.History) []byte {
	var b bytes.Buffer
	if err := history.Encode(&b, h); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// write writes h with a Writer and a header.
func write(t fataler, h *history.History, format string) []byte {
	header := h.Header
	header.Format = history.Format
	return writeAs(t, header, h, format)
}

func writeAs(t fataler, header history.Header, h *history.History, format string) []byte {
	var b bytes.Buffer
	w, err := formats.NewWriter(&b, format, header)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.Entries {
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(t fataler, b []byte) *history.History {
	h, _, warnings, err := decodeAll(bytes.NewReader(b))
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v\n%s", err, warnings, b)
	}
	return h
}

type fataler interface {
	Fatal(...any)
	Fatalf(string, ...any)
}

func TestNothingIsLostOnTheWayThroughAnotherFormat(t *testing.T) {
	t.Parallel()
	rapidtest.Check(t, func(t *rapid.T) {
		h := anyHistory(t)
		lines := encode(t, h)
		if got, warnings, err := history.Decode(bytes.NewReader(lines), "file"); err != nil || len(warnings) > 0 || !reflect.DeepEqual(got, h) {
			t.Fatalf("%v %v\ngot  %+v\nwant %+v", err, warnings, got, h)
		}
		if got := write(t, read(t, lines), "jsonl"); !bytes.Equal(got, lines) {
			t.Fatalf("JSON Lines became\n%swant\n%s", got, lines)
		}
		edn := write(t, read(t, lines), "edn")
		if got := encode(t, read(t, edn)); !bytes.Equal(got, lines) {
			t.Fatalf("by way of\n%sit became\n%swant\n%s", edn, got, lines)
		}
		if got := write(t, read(t, edn), "edn"); !bytes.Equal(got, edn) {
			t.Fatalf("EDN became\n%swant\n%s", got, edn)
		}
		array := "[" + strings.Join(strings.Split(strings.TrimSuffix(string(lines), "\n"), "\n"), ",\n") + "]"
		if got := encode(t, read(t, []byte(array))); !bytes.Equal(got, lines) {
			t.Fatalf("by way of\n%s\nit became\n%swant\n%s", array, got, lines)
		}
	})
}

// anyHistory returns a history that uses all fields and has nothing to fill in.
func anyHistory(t *rapid.T) *history.History {
	word := rapid.OneOf(rapid.SampledFrom([]string{"", "a", "c1", "nil", ":a", "a/b", "1", "\\u0041", "[", "acquire"}), rapid.String())
	name := word.Filter(func(s string) bool { return s != "" })
	number := rapid.OneOf(rapid.Int64Range(-2, 2), rapid.Int64())
	opt := rapid.Custom(func(t *rapid.T) history.Opt {
		if !rapid.Bool().Draw(t, "set") {
			return history.Opt{}
		}
		return history.Some(number.Draw(t, "v"))
	})
	list := rapid.Custom(func(t *rapid.T) []string {
		if l := rapid.SliceOfN(word, 0, 3).Draw(t, "list"); len(l) > 0 {
			return l
		}
		return nil
	})
	h := &history.History{Header: history.Header{
		Format: history.Format, Version: rapid.String().Draw(t, "version"), Seed: rapid.Uint64().Draw(t, "seed"),
		LeaseMS: rapid.Int64Range(0, 1e9).Draw(t, "lease"), Observes: list.Draw(t, "observes"), Lock: word.Draw(t, "lock"), Faults: list.Draw(t, "faults"),
		Fencing: rapid.SampledFrom([]history.Fencing{history.FencingOff, history.FencingAll, history.FencingWrites}).Draw(t, "fencing"),
	}}
	var (
		index   = rapid.IntRange(0, 3).Draw(t, "first index")
		now     = time.Duration(rapid.Int64Range(-5, 5).Draw(t, "first time"))
		numbers = []int{-7, -1, 0, 1, 1 << 40}
		open    = map[int]history.Entry{}
		retired = map[int]bool{}
		invokes []int64
		grant   int
	)
	for range rapid.IntRange(0, 20).Draw(t, "entries") {
		n := rapid.SampledFrom(numbers).Draw(t, "process")
		e := history.Entry{Client: "c" + history.Process{N: n}.String(), Process: history.Process{N: n}}
		invoke, is := open[n]
		switch {
		case retired[n] || rapid.IntRange(0, 2).Draw(t, "named") == 0:
			e = history.Entry{
				Process: history.Process{Name: rapid.OneOf(rapid.SampledFrom([]string{history.Nemesis, "redis-1"}), name).Draw(t, "name")},
				Type:    rapid.SampledFrom([]history.Type{history.Info, history.Event}).Draw(t, "type"),
				F:       name.Draw(t, "f"), On: list.Draw(t, "on"), ID: int(number.Draw(t, "id")), Point: word.Draw(t, "point"),
				Amount: time.Duration(number.Draw(t, "amount")), Hits: opt.Draw(t, "hits"), Client: word.Draw(t, "client"),
				Grant: rapid.IntRange(0, 9).Draw(t, "of"),
			}
			if len(invokes) > 0 {
				e.By = history.Some(rapid.SampledFrom(invokes).Draw(t, "by"))
				e.Op = history.Some(rapid.SampledFrom(invokes).Draw(t, "op"))
			}
		case rapid.IntRange(0, 5).Draw(t, "report") == 0:
			e.Type, e.F = history.Event, rapid.SampledFrom([]string{history.Queued, history.Late}).Draw(t, "report")
		case is:
			e.Type, e.F = rapid.SampledFrom([]history.Type{history.OK, history.Fail, history.Info}).Draw(t, "type"), invoke.F
			if e.Grant = invoke.Grant; e.Type == history.OK && (e.F == history.Acquire || e.F == history.Try) {
				grant += rapid.IntRange(1, 2).Draw(t, "grant")
				e.Grant = grant
			}
			retired[n] = e.Type == history.Info
			delete(open, n)
		default:
			e.Type = history.Invoke
			e.F = rapid.SampledFrom([]string{history.Acquire, history.Try, history.Release, history.Extend, history.Read, history.Write, history.CAS}).Draw(t, "f")
			if e.F != history.Acquire && e.F != history.Try {
				e.Grant = rapid.IntRange(1, 9).Draw(t, "of")
			}
		}
		e.Lock, e.Key = rapid.SampledFrom([]string{"", "a", ":b", "7", "[x]"}).Draw(t, "lock"), word.Draw(t, "key")
		if is && e.Lock == "" && e.Process.Client() {
			e.Lock = invoke.Lock // as a reader fills it in
		}
		e.Shared, e.Value, e.Was = rapid.Bool().Draw(t, "shared"), opt.Draw(t, "value"), opt.Draw(t, "was")
		e.Token, e.ValidUntil = uint64(max(0, number.Draw(t, "token"))), time.Duration(number.Draw(t, "until"))
		e.Error, e.Text = word.Draw(t, "error"), word.Draw(t, "text")
		index += rapid.IntRange(1, 100).Draw(t, "gap")
		now += time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "step"))
		if e.Index, e.Time = index, now; e.Type == history.Invoke {
			open[n] = e
			invokes = append(invokes, int64(index))
		}
		h.Entries = append(h.Entries, e)
	}
	return h
}

func TestACASThatDoesNotSayWhatItReplacesIsWrittenAsItIsRead(t *testing.T) {
	t.Parallel()
	const lines = `{"index":1,"time":0,"client":"0","process":0,"type":"invoke","f":"cas","value":5}
{"index":2,"time":0,"client":"0","process":0,"type":"ok","f":"cas","value":5}
{"index":3,"time":0,"process":"redis","type":"event","f":"cas","value":5}
`
	for _, header := range []history.Header{{}, {Format: history.Format}} {
		edn := writeAs(t, header, read(t, []byte(lines)), "edn")
		if got := writeAs(t, history.Header{}, read(t, edn), "jsonl"); string(got) != lines {
			t.Errorf("by way of\n%s\nit became\n%s", edn, got)
		}
	}
}

func TestEDNIsWrittenAsPeopleReadIt(t *testing.T) {
	t.Parallel()
	h := &history.History{Header: history.Header{LeaseMS: 10000, Observes: []string{"answers"}}, Entries: []history.Entry{
		{Index: 1, Time: 5, Client: "c1", Process: history.Process{N: 1}, Type: history.OK, F: history.Acquire, Lock: "a", Shared: true, Grant: 5, Token: 34, ValidUntil: 9},
		{Index: 2, Time: 6, Client: "c1", Process: history.Process{N: 1}, Type: history.Fail, F: history.CAS, Value: history.Some(0), Was: history.Some(-1), Error: "not-held", Text: "a\n\"b\" \x01\xff"},
		{Index: 3, Time: 7, Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: "pause", ID: 1, On: []string{"c1", "n 1"}, Amount: 3, Hits: history.Some(0)},
		{Index: 4, Time: 7, Process: history.Process{Name: "redis"}, Type: history.Event, F: "a b", Key: "k", By: history.Some(1), Op: history.Some(0), Error: "no such key"},
	}}
	const want = `[{:lockcheck 1, :fencing false, :lease-ms 10000, :observes ["answers"]}
 {:index 1, :time 5, :client "c1", :process 1, :type :ok, :f :acquire, :lock "a", :shared true, :grant 5, :token 34, :valid-until 9}
 {:index 2, :time 6, :client "c1", :process 1, :type :fail, :f :cas, :value 0, :was -1, :error :not-held, :text "a\n\"b\" \u0001�"}
 {:index 3, :time 7, :process :nemesis, :type :info, :f :pause, :id 1, :on ["c1" "n 1"], :amount-ns 3, :hits 0}
 {:index 4, :time 7, :process "redis", :type :event, :f "a b", :error "no such key", :key "k", :by 1, :op 0}]
`
	got := string(write(t, h, "edn"))
	head, rest, _ := strings.Cut(got, "\n")
	wantHead, wantRest, _ := strings.Cut(want, "\n")
	if rest != wantRest {
		t.Errorf("got\n%s\nwant\n%s", rest, wantRest)
	}
	words := func(s string) []string {
		list := strings.Split(strings.Trim(s, "[{}"), ", ")
		slices.Sort(list)
		return list
	}
	if !reflect.DeepEqual(words(head), words(wantHead)) {
		t.Errorf("got  %s\nwant %s", head, wantHead)
	}
}

func TestAHistoryWithoutAHeaderStaysWithoutOne(t *testing.T) {
	t.Parallel()
	h := &history.History{Entries: []history.Entry{
		{Index: 1, Client: "1", Process: history.Process{N: 1}, Type: history.Invoke, F: history.Acquire},
		{Index: 2, Client: "1", Process: history.Process{N: 1}, Type: history.OK, F: history.Acquire},
	}}
	for format, want := range map[string]string{
		"edn": `[{:index 1, :time 0, :client "1", :process 1, :type :invoke, :f :acquire}
 {:index 2, :time 0, :client "1", :process 1, :type :ok, :f :acquire}]
`,
		"jsonl": `{"index":1,"time":0,"client":"1","process":1,"type":"invoke","f":"acquire"}
{"index":2,"time":0,"client":"1","process":1,"type":"ok","f":"acquire"}
`,
	} {
		if got := string(writeAs(t, history.Header{}, h, format)); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

func TestAWriterRefusesWhatAHistoryCannotExpress(t *testing.T) {
	t.Parallel()
	if _, err := formats.NewWriter(&bytes.Buffer{}, "xml", history.Header{}); err == nil || err.Error() != `no format "xml": want edn or jsonl` {
		t.Errorf("got %v", err)
	}
	for _, format := range []string{"edn", "jsonl"} {
		w, err := formats.NewWriter(&bytes.Buffer{}, format, history.Header{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			entry history.Entry
			want  string
		}{
			{history.Entry{Index: 3, Type: history.OK, Token: 1 << 63}, "history: entry 3: token 9223372036854775808 is larger than 2^63-1"},
			{history.Entry{Index: 4}, "history: entry 4: unknown type 0"},
		} {
			if err := w.Append(c.entry); err == nil || err.Error() != c.want {
				t.Errorf("%s: got %v, want %s", format, err, c.want)
			}
		}
	}
}

// The corpus of the fuzz test is also a collection of formats: FuzzReader runs it
// in every test.
func FuzzReader(f *testing.F) {
	files, err := filepath.Glob("testdata/*.*")
	if err != nil || len(files) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) { readable(t, data) })
}

// Files composed of pieces of histories are well formed more often than a
// fuzzer's.
func TestPiecesOfHistoriesAreReadOrRefused(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom(strings.Split(`[|]|{|}|(|)|#{|#_|#a/b |#inst |;|"|\\|,| |
|nil|true|1|-1|34|1.5|2N|1/2|:a|"a"|sym|\\a|["c1" "a"]|[:k nil]|[0 3]|[:k [0 3]]|{:lock "a" :fence 3}|#{:n1}
|{:process 0 :type :invoke :f :acquire}|{:process 0 :type :ok :f :acquire :value 34}|{:process 0 :type :info :f :acquire :error [:x 1]}
|{:process 0 :type :invoke :f :release :value |{:process 1 :type :invoke :f :read :value |{:process 1 :type :ok :f :read :value 
|{:process "c1" :type :invoke :f :lock :value |{:process "c1" :type :ok :f :lock}|{:process :c1 :type :info :f :lock :error |{:process "c1" :type :event :f :late}
|{:process :nemesis :type :info :f :start :value |{:process :nemesis :type :info :f nil}|{:process redis :type :event :f :expire :key 
|:time 5|:time 4|:time 1000000000 |:index 7|:index 3|:token |:grant 2 |:shared true|:client "x"|:lock |:on |:was 3 |:by 1|:op 1
|{"lockcheck":1},|{:lockcheck 1}|{"process":0,"type":"invoke","f":"acquire"}|{"process":0,"type":"ok","f":"acquire","value":3}|{"process":"c1","type":"invoke","f":"lock","value":|{"process":"c1","type":"info","f":"lock","error":|"time":5|"index":1|:|null|["a",null]|[0,3]`, "|"))
	rapidtest.Check(t, func(t *rapid.T) {
		readable(t, []byte(strings.Join(rapid.SliceOfN(piece, 0, 30).Draw(t, "pieces"), "")))
	})
}

// readable checks that an accepted file is a history that can be written and read
// again in every format.
func readable(t fataler, data []byte) {
	h, lines, _, err := decodeAll(bytes.NewReader(data))
	if err != nil {
		if _, ok := errors.AsType[*history.SyntaxError](err); !ok {
			t.Fatalf("%T: %v", err, err)
		}
		return
	}
	if err := history.Check(h); err != nil {
		t.Fatal(err)
	}
	if len(lines) != len(h.Entries) || !slices.IsSorted(lines) {
		t.Fatalf("%d entries on the lines %v", len(h.Entries), lines)
	}
	want := encode(t, h)
	again, _, err := history.Decode(bytes.NewReader(want), "again")
	if err != nil || !bytes.Equal(encode(t, again), want) {
		t.Fatalf("%v\nwant %s", err, want)
	}
	for _, format := range []string{"edn", "jsonl"} {
		text := write(t, h, format)
		if got := encode(t, read(t, text)); !bytes.Equal(got, want) {
			t.Fatalf("by way of\n%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}
