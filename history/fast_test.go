package history

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/rapidtest"
)

func newTestReader(t testing.TB) *Reader {
	t.Helper()
	r, err := NewReader(strings.NewReader(""), "file")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// agree checks that an accepted line has the same meaning in encoding/json, and
// reports whether it was accepted.
func agree(t interface{ Fatalf(string, ...any) }, r *Reader, b []byte) bool {
	var fast Entry
	var fastGiven Given
	if !r.plain(b, &fast, &fastGiven) {
		return false
	}
	slow, slowGiven, err := r.parse(b)
	if err != nil || !reflect.DeepEqual(fast, slow) || fastGiven != slowGiven {
		t.Fatalf("%q\nfast %+v %+v\njson %+v %+v %v", b, fast, fastGiven, slow, slowGiven, err)
	}
	return true
}

func TestTheFastPathTakesWhatIsCommon(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, line string
		fast       bool
	}{
		{"as Encode writes it", `{"index":7,"time":1203000000,"client":"c2","process":2,"type":"invoke","f":"acquire","lock":"a"}`, true},
		{"with blanks", ` { "index" : 7 , "process": 2, "type": "ok",	"f": "cas" } ` + "\r\n", true},
		{"everything but a list", `{"index":1,"time":2,"client":"ü","process":"redis","type":"event","f":"write","lock":"a","shared":true,"grant":5,"token":999999999999999999,"valid_until":-3,"value":0,"was":-1,"error":"e","text":"t","key":"k","by":0,"op":1,"id":2,"point":"p","amount_ns":3,"hits":4}`, true},
		{"shared is false", `{"process":2,"type":"ok","f":"try","shared":false}`, true},
		{"a list", `{"process":2,"type":"ok","f":"try","on":["a"]}`, false},
		{"an escape", `{"process":2,"type":"ok","f":"try","text":"\n"}`, false},
		{"a token as text", `{"process":2,"type":"ok","f":"try","token":"3"}`, false},
		{"a token below 0", `{"process":2,"type":"ok","f":"try","token":-3}`, false},
		{"null", `{"process":2,"type":"ok","f":"try","lock":null}`, false},
		{"an unknown key", `{"process":2,"type":"ok","f":"try","more":1}`, false},
		{"a key that json would fold", `{"process":2,"type":"ok","f":"try","Index":1}`, false},
		{"a key twice", `{"process":2,"type":"ok","f":"try","lock":"a","lock":"b"}`, false},
		{"a fraction", `{"process":2,"type":"ok","f":"try","time":1.0}`, false},
		{"an exponent", `{"process":2,"type":"ok","f":"try","time":1e3}`, false},
		{"a leading zero", `{"process":02,"type":"ok","f":"try"}`, false},
		{"19 digits", `{"process":2,"type":"ok","f":"try","value":9223372036854775807}`, false},
		{"no UTF-8", `{"process":2,"type":"ok","f":"try","lock":"` + "\xff" + `"}`, false},
		{"no type", `{"process":2,"f":"try"}`, false},
		{"no process", `{"type":"ok","f":"try"}`, false},
		{"an empty f", `{"process":2,"type":"ok","f":""}`, false},
		{"an unclosed object", `{"process":2,"type":"ok","f":"try"`, false},
		{"two objects", `{"process":2,"type":"ok","f":"try"}{}`, false},
		{"a comma too many", `{"process":2,"type":"ok","f":"try",}`, false},
		{"an empty object", `{}`, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := agree(t, newTestReader(t), []byte(c.line)); got != c.fast {
				t.Errorf("fast is %v, want %v", got, c.fast)
			}
		})
	}
}

func TestTheFastPathReadsWhatJSONReads(t *testing.T) {
	t.Parallel()
	r := newTestReader(t)
	word := rapid.SampledFrom([]string{"", "a", "c1", "acquire", "read", "pause", "ü", "\xff", "a b", "\\", "\"", "\n", "\x7f"})
	number := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.Int64())
	opt := rapid.Custom(func(t *rapid.T) Opt {
		return Opt{V: number.Draw(t, "v"), Set: rapid.Bool().Draw(t, "set")}
	})
	rapidtest.Check(t, func(t *rapid.T) {
		line, err := appendEntry(nil, &Entry{
			Index: int(number.Draw(t, "index")), Time: time.Duration(number.Draw(t, "time")), Client: word.Draw(t, "client"),
			Process: Process{N: int(number.Draw(t, "process")), Name: word.Draw(t, "name")},
			Type:    Type(rapid.IntRange(1, 5).Draw(t, "type")), F: word.Draw(t, "f"), Lock: word.Draw(t, "lock"), Shared: rapid.Bool().Draw(t, "shared"),
			Grant: int(number.Draw(t, "grant")), Token: uint64(max(0, number.Draw(t, "token"))), ValidUntil: time.Duration(number.Draw(t, "until")),
			Value: opt.Draw(t, "value"), Was: opt.Draw(t, "was"), Error: word.Draw(t, "error"), Text: word.Draw(t, "text"),
			Key: word.Draw(t, "key"), By: opt.Draw(t, "by"), Op: opt.Draw(t, "op"), ID: int(number.Draw(t, "id")),
			On: rapid.SliceOfN(word, 0, 2).Draw(t, "on"), Point: word.Draw(t, "point"), Amount: time.Duration(number.Draw(t, "amount")), Hits: opt.Draw(t, "hits"),
		})
		if err != nil {
			t.Fatal(err)
		}
		for range rapid.IntRange(0, 2).Draw(t, "changes") { // as another program or a damaged disk might write it
			at := rapid.IntRange(0, len(line)-1).Draw(t, "at")
			piece := rapid.SampledFrom([]string{"", " ", ",", `"`, "{", "}", "0", "-", ".5", "1e2", "null", "true", `"lock":"b",`, `"index":1,`, `\u0041`, "\xff"}).Draw(t, "piece")
			line = append(append(line[:at:at], piece...), line[at+rapid.IntRange(0, 1).Draw(t, "cut"):]...)
		}
		agree(t, r, line)
	})
}

func FuzzPlainLine(f *testing.F) {
	f.Add([]byte(`{"index":7,"time":1203000000,"client":"c2","process":2,"type":"invoke","f":"acquire","lock":"a"}`))
	f.Add([]byte(`{"process":"redis","type":"event","f":"write","shared":false,"value":0,"was":-1,"by":0}`))
	r := newTestReader(f)
	f.Fuzz(func(t *testing.T, line []byte) { agree(t, r, line) })
}

func TestARememberedWordIsOneOfManyAtMost(t *testing.T) {
	t.Parallel()
	r := newTestReader(t)
	for i := range 3 * maxWords {
		b := []byte{byte(i), byte(i >> 8), 'x'}
		if got := r.word(b); got != string(b) {
			t.Fatalf("%q became %q", b, got)
		}
	}
	if len(r.names) > maxWords {
		t.Errorf("it remembers %d words", len(r.names))
	}
}

func TestNumbersThatGrowAreFoundAgain(t *testing.T) {
	t.Parallel()
	rapidtest.Check(t, func(t *rapid.T) {
		var set numbers
		n, in := rapid.Int64Range(-200, 200).Draw(t, "first"), map[int64]bool{}
		for range rapid.IntRange(0, 20).Draw(t, "numbers") {
			n += rapid.Int64Range(1, 100).Draw(t, "gap")
			set.add(n)
			in[n] = true
		}
		for i := int64(-300); i < 2300; i++ {
			if set.has(i) != in[i] {
				t.Fatalf("has %d is %v", i, !in[i])
			}
		}
	})
}

func TestGrantsInAnyOrderAreFoundAgain(t *testing.T) {
	t.Parallel()
	rapidtest.Check(t, func(t *rapid.T) {
		var grants grantIndex
		in := map[int]int{}
		for i, n := range rapid.SliceOf(rapid.IntRange(1, 30)).Draw(t, "grants") {
			before, used := grants.add(n, i)
			if want, is := in[n]; is != used || before != want {
				t.Fatalf("grant %d: %d %v, want %d %v", n, before, used, want, is)
			}
			if !used {
				in[n] = i
			}
		}
	})
}

func TestProcessesOfAnyNumberHaveOnePlace(t *testing.T) {
	t.Parallel()
	var procs table[int]
	list := []int{0, 1 << 20, -1, 1033, 1031, 5, 1 << 62, -1 << 62, 1024, 1 << 12}
	for i := range list {
		if procs.at(list[i]) != nil {
			t.Errorf("process %d is there already", list[i])
		}
		procs.set(list[i], &list[i])
	}
	for i := range list {
		if procs.at(list[i]) != &list[i] {
			t.Errorf("process %d is not there", list[i])
		}
	}
	if len(procs.low) > 1<<12 {
		t.Errorf("few processes take %d places", len(procs.low))
	}
}

func BenchmarkCheck(b *testing.B) {
	var seq Sequence
	text := []byte(`{"process":1,"type":"invoke","f":"acquire","lock":"a"}`)
	r := newTestReader(b)
	var e Entry
	var given Given
	if !r.plain(bytes.TrimSpace(text), &e, &given) {
		b.Fatal("not plain")
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e := e
		e.Process.N = i % 50
		e.Type = []Type{Invoke, OK}[i/50%2]
		e.F = []string{Acquire, Release}[i/100%2]
		e.Index, e.Time = i, time.Duration(i)
		if err := seq.Fill(&e, Given{Index: true, Time: true}); err != nil {
			b.Fatal(err)
		}
		if err := seq.Check(&e); err != nil {
			b.Fatal(err)
		}
	}
}
