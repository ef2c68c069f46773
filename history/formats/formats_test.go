package formats_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
)

func decode(t *testing.T, text string) (*history.History, []int, []history.Warning) {
	t.Helper()
	h, lines, warnings, err := decodeAll(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := history.Check(h); err != nil {
		t.Fatal(err)
	}
	return h, lines, warnings
}

// decodeAll reads a whole history, and the line on which each entry begins.
func decodeAll(r io.Reader) (h *history.History, lines []int, warnings []history.Warning, err error) {
	in, err := formats.NewReader(r, "file", formats.Reading{})
	if err != nil {
		return nil, nil, nil, err
	}
	h = &history.History{Header: in.Header()}
	for {
		e, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return h, lines, in.Warnings(), nil
		case err != nil:
			return nil, nil, in.Warnings(), err
		}
		h.Add(e)
		lines = append(lines, in.Line())
	}
}

// short writes entries as JSON Lines without index and time.
func short(t *testing.T, entries []history.Entry) string {
	t.Helper()
	var b strings.Builder
	for _, e := range entries {
		var line strings.Builder
		w, err := history.NewWriter(&line, history.Header{})
		if err != nil {
			t.Fatal(err)
		}
		line.Reset()
		if err := w.Append(e); err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(line.String(), `,"time":`)
		_, rest, _ = strings.Cut(rest, ",")
		b.WriteString("{" + rest)
	}
	return b.String()
}

const two = `{"client":"0","process":0,"type":"invoke","f":"acquire","lock":"a"}
{"client":"0","process":0,"type":"ok","f":"acquire","lock":"a","grant":1}
`

func TestTheFormatIsFoundOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, format, text string }{
		{"JSON Lines", "jsonl", `{"lockcheck":1}` + "\n" + two},
		{"JSON Lines without a header", "jsonl", "\n" + two},
		{"JSON Lines from Windows", "jsonl", "\xef\xbb\xbf" + strings.ReplaceAll(two, "\n", "\r\n")},
		{"a vector", "edn", `[{:process 0, :type :invoke, :f :acquire, :value "a"} {:process 0 :type :ok :f :acquire :value "a"}]`},
		{"a vector over many lines", "edn", "; a comment\n[\n#_{:discarded [1 #{2}]}{:process\n0,\n:type :invoke :f :acquire\n:lock \"a\"}\n\n{:process 0 :type :ok :f :acquire}\n]\n;end"},
		{"a list", "edn", `({:process 0, :type :invoke, :f :acquire, :value :a} {:process 0 :type :ok :f :acquire :value :a})`},
		{"a map a line", "edn", `{:process 0, :type :invoke, :f :acquire, :value a}` + "\n" + `{:process 0 :type :ok :f :acquire :value a}`},
		{"maps without a line between", "edn", `{:process 0, :type :invoke, :f :acquire, :value a}{:process 0 :type :ok :f :acquire :value a}`},
		{"records", "edn", `#jepsen.history.Op{:process 0, :type :invoke, :f :acquire, :value "a"}` + "\n" + `#jepsen.history.Op{:process 0 :type :ok :f :acquire}`},
		{"keys of a namespace", "edn", `[#:jepsen{:process 0, :type :jepsen.type/invoke, :f :lock/acquire, :lock "a"} {:op/process 0 :op/type :ok :f :acquire}]`},
		{"a header", "edn", `[{:lockcheck 1} {:process 0, :type :invoke, :f :acquire, :lock "a"} {:process 0 :type :ok :f :acquire :grant 1}]`},
		{"strings for keys", "edn", `[{"process" 0 "type" "invoke" "f" "acquire" "lock" "a"} {"process" 0 "type" "ok" "f" "acquire"}]`},
		{"a JSON array", "json", `[{"process":0,"type":"invoke","f":"acquire","value":"a"},` + "\n" + `{"process":0,"type":"ok","f":"acquire","value":null}]`},
		{"a JSON array with colons", "json", ` [ {":process":0,":type":":invoke",":f":":acquire",":value":":a"},{"process":0,"type":"ok","f":"acquire"} ] `},
		{"a JSON array with a header", "json", `[{"lockcheck":1},{"process":0,"type":"invoke","f":"acquire","lock":"a"},{"process":0,"type":"ok","f":"acquire"}]`},
		{"JSON Lines as Jepsen shapes them", "jsonl", `{"process":0,"type":"invoke","f":"lock","value":["0","a"]}` + "\n" + `{"process":0,"type":"ok","f":"lock","value":["0","a"]}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, text := range []string{c.text, zipped(c.text), zipped(c.text[:9]) + zipped(c.text[9:])} {
				in, err := formats.NewReader(strings.NewReader(text), "file", formats.Reading{})
				if err != nil {
					t.Fatal(err)
				}
				if in.Format() != c.format {
					t.Errorf("it is %s, want %s", in.Format(), c.format)
				}
				if want := strings.Contains(c.text, "lockcheck"); (in.Header().Format == 1) != want {
					t.Errorf("the header is %+v", in.Header())
				}
				h, _, warnings := decode(t, text)
				if got := short(t, h.Entries); got != two || len(warnings) > 0 {
					t.Errorf("got %v\n%swant\n%s", warnings, got, two)
				}
			}
		})
	}
}

func zipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

func TestWhatAnOperationSays(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, edn, want string }{
		// Operations.
		{"lock", `{:process 0 :type :invoke :f :lock}`, `{"client":"0","process":0,"type":"invoke","f":"acquire"}`},
		{"unlock", `{:process 0 :type :invoke :f :unlock}`, `{"client":"0","process":0,"type":"invoke","f":"release"}`},
		{"refresh", `{:process 0 :type :invoke :f :refresh}`, `{"client":"0","process":0,"type":"invoke","f":"extend"}`},
		{"renew", `{:process 0 :type :invoke :f "renew"}`, `{"client":"0","process":0,"type":"invoke","f":"extend"}`},
		{"try-lock", `{:process 0 :type :invoke :f :try-lock}`, `{"client":"0","process":0,"type":"invoke","f":"try"}`},
		{"try-acquire", `{:process 0 :type :invoke :f :try-acquire}`, `{"client":"0","process":0,"type":"invoke","f":"try"}`},
		{"read-lock", `{:process 0 :type :invoke :f :read-lock}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","shared":true}`},
		{"acquire-read", `{:process 0 :type :invoke :f :acquire-read}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","shared":true}`},
		{"acquire-shared", `{:process 0 :type :invoke :f :acquire-shared}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","shared":true}`},
		{"shared", `{:process 0 :type :invoke :f :acquire :shared true}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","shared":true}`},
		{"write-lock", `{:process 0 :type :invoke :f :write-lock :shared false}`, `{"client":"0","process":0,"type":"invoke","f":"acquire"}`},
		{"acquire-write", `{:process 0 :type :invoke :f :acquire-write}`, `{"client":"0","process":0,"type":"invoke","f":"acquire"}`},
		{"read-unlock", `{:process 0 :type :invoke :f :read-unlock}`, `{"client":"0","process":0,"type":"invoke","f":"release"}`},
		{"release-read", `{:process 0 :type :invoke :f :release-read}`, `{"client":"0","process":0,"type":"invoke","f":"release"}`},
		{"write-unlock", `{:process 0 :type :invoke :f :write-unlock}`, `{"client":"0","process":0,"type":"invoke","f":"release"}`},
		{"release-write", `{:process 0 :type :invoke :f :release-write}`, `{"client":"0","process":0,"type":"invoke","f":"release"}`},
		{"a report", `{:process 0 :type :event :f :queued :lock "a"}`, `{"client":"0","process":0,"type":"event","f":"queued","lock":"a"}`},

		// Locks.
		{"no lock", `{:process 0 :type :invoke :f :acquire :value nil}`, `{"client":"0","process":0,"type":"invoke","f":"acquire"}`},
		{"a lock by :lock", `{:process 0 :type :invoke :f :acquire :lock :a/b}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","lock":"a/b"}`},
		{"a lock by :key", `{:process 0 :type :invoke :f :acquire :key "a"}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","lock":"a"}`},
		{"a lock that is a number", `{:process 0 :type :invoke :f :release :value 7}`, `{"client":"0","process":0,"type":"invoke","f":"release","lock":"7"}`},
		{"client and lock", `{:process 0 :type :invoke :f :extend :value [:c1 "a"]}`, `{"client":"c1","process":0,"type":"invoke","f":"extend","lock":"a"}`},
		{"an independent key", `{:process 0 :type :invoke :f :acquire :value [3 nil]}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","lock":"3"}`},
		{"a lock without a client", `{:process 0 :type :invoke :f :acquire :value [nil "a"]}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","lock":"a"}`},
		{"a map", `{:process 0 :type :invoke :f :acquire :value {:lock "a" :client c1 :uid "x"}}`, `{"client":"c1","process":0,"type":"invoke","f":"acquire","lock":"a"}`},
		{"a map with a name", `{:process 0 :type :invoke :f :acquire :value {:name "a"}}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","lock":"a"}`},
		{"a map with a key", `{:process 0 :type :invoke :f :acquire :value {:key "a"}}`, `{"client":"0","process":0,"type":"invoke","f":"acquire","lock":"a"}`},
		{
			"a client is named only once",
			`{:process 0 :type :invoke :f :acquire :value ["c1" "a"]} {:process 0 :type :ok :f :acquire :value ["c1" "a"]} {:process 0 :type :invoke :f :release :value ["c9" "a"]}`,
			`{"client":"c1","process":0,"type":"invoke","f":"acquire","lock":"a"}
{"client":"c1","process":0,"type":"ok","f":"acquire","lock":"a","grant":1}
{"client":"c1","process":0,"type":"invoke","f":"release","lock":"a","grant":1}`,
		},

		// Tokens.
		{"a number where the invoke had nothing is a token", acquired("nil", "34"), got("", `,"grant":1,"token":34`)},
		{"the same number is the lock", acquired("7", "7"), got("7", `,"grant":1`)},
		{"another number is a token", acquired(`"a"`, "34"), got("a", `,"grant":1,"token":34`)},
		{"a token for an independent key", acquired("[1 nil]", "[1 34]"), got("1", `,"grant":1,"token":34`)},
		{"a token in a map", acquired(`"a"`, "{:fence 34}"), got("a", `,"grant":1,"token":34`)},
		{"the lock and its token in a map", acquired(`{:lock "a"}`, `{:lock "a" :token "34"}`), got("a", `,"grant":1,"token":34`)},
		{"a lock only in the map of the answer", acquired(`nil`, `{:lock "a"}`), "{\"client\":\"0\",\"process\":0,\"type\":\"invoke\",\"f\":\"acquire\"}\n" + `{"client":"0","process":0,"type":"ok","f":"acquire","lock":"a","grant":1}`},
		{"any other answer", acquired(`nil`, `"0xbeef"`), got("", `,"grant":1,"text":"0xbeef"`)},
		{"an answer true", acquired(`:a`, `true`), got("a", `,"grant":1,"text":"true"`)},
		{"a token of its own", `{:process 0 :type :invoke :f :try} {:process 0 :type :ok :f :try :token "9223372036854775807"}`, `{"client":"0","process":0,"type":"invoke","f":"try"}
{"client":"0","process":0,"type":"ok","f":"try","grant":1,"token":9223372036854775807}`},

		// Registers.
		{"a read", done("read", "nil", "ok", "3"), `{"client":"0","process":0,"type":"invoke","f":"read"}
{"client":"0","process":0,"type":"ok","f":"read","value":3}`},
		{"a read of nothing", done("read", "nil", "ok", "nil"), `{"client":"0","process":0,"type":"invoke","f":"read"}
{"client":"0","process":0,"type":"ok","f":"read"}`},
		{"a write", done("write", "-9223372036854775808", "ok", "9223372036854775807N"), `{"client":"0","process":0,"type":"invoke","f":"write","value":-9223372036854775808}
{"client":"0","process":0,"type":"ok","f":"write","value":9223372036854775807}`},
		{"a write whose answer has no value", done("write", "3", "ok", "nil"), `{"client":"0","process":0,"type":"invoke","f":"write","value":3}
{"client":"0","process":0,"type":"ok","f":"write"}`},
		{"a cas", done("cas", "[0 3]", "fail", "[0 3]"), `{"client":"0","process":0,"type":"invoke","f":"cas","value":3,"was":0}
{"client":"0","process":0,"type":"fail","f":"cas","value":3,"was":0}`},
		{"a cas in two fields", `{:process 0 :type :invoke :f :cas :was 0 :value 3}`, `{"client":"0","process":0,"type":"invoke","f":"cas","value":3,"was":0}`},
		{"a cas without the replaced value", `{:process 0 :type :invoke :f :cas :value [nil 3]}`, `{"client":"0","process":0,"type":"invoke","f":"cas","value":3}`},
		{"independent registers", done("read", "[7 nil]", "ok", "[7 3]"), `{"client":"0","process":0,"type":"invoke","f":"read","lock":"7"}
{"client":"0","process":0,"type":"ok","f":"read","lock":"7","value":3}`},
		{"an independent write", done("write", "[7 3]", "info", ":timed-out"), `{"client":"0","process":0,"type":"invoke","f":"write","lock":"7","value":3}
{"client":"0","process":0,"type":"info","f":"write","lock":"7","error":"timed-out"}`},
		{"an independent cas", done("cas", "[7 [0 3]]", "ok", "[7 [0 3]]"), `{"client":"0","process":0,"type":"invoke","f":"cas","lock":"7","value":3,"was":0}
{"client":"0","process":0,"type":"ok","f":"cas","lock":"7","value":3,"was":0}`},

		// Errors.
		{"an error that is a keyword", failed(":not-held"), said(`"error":"not-held"`)},
		{"an error that is a string", failed(`"already-held"`), said(`"error":"already-held"`)},
		{"an error that is a symbol", failed(`timeout`), said(`"error":"timeout"`)},
		{"no error", failed(`nil`), said(``)},
		{"an error with details", failed(`[:conn-lost "n1 died"]`), said(`"error":"conn-lost","text":"[:conn-lost \"n1 died\"]"`)},
		{"an error of another shape", failed(`{:code 7, :list (1 #{2.5 \a} 1/2)}`), said(`"text":"{:code 7, :list [1 #{2.5 \\a} 1/2]}"`)},
		{"an error, and words for people", failed(`[:x 1] :text "oh"`), said(`"error":"x","text":"oh; [:x 1]"`)},

		// Processes with a name.
		{"a named client", `{:process "c1" :type :invoke :f :acquire :value "a"} {:process :c2 :type :invoke :f :acquire} {:process "c1" :type :ok :f :acquire}`, `{"client":"c1","process":-1,"type":"invoke","f":"acquire","lock":"a"}
{"client":"c2","process":-2,"type":"invoke","f":"acquire"}
{"client":"c1","process":-1,"type":"ok","f":"acquire","lock":"a","grant":1}`},
		{"a named client goes on after an info with its grants", `{:process -1 :type :invoke :f :try}
{:process "c1" :type :invoke :f :acquire} {:process "c1" :type :ok :f :acquire}
{:process "c1" :type :invoke :f :extend} {:process "c1" :type :info :f :extend} {:process "c1" :type :event :f :late}
{:process "c1" :type :invoke :f :release} {:process "c1" :type :ok :f :release}`, `{"client":"-1","process":-1,"type":"invoke","f":"try"}
{"client":"c1","process":-2,"type":"invoke","f":"acquire"}
{"client":"c1","process":-2,"type":"ok","f":"acquire","grant":1}
{"client":"c1","process":-2,"type":"invoke","f":"extend","grant":1}
{"client":"c1","process":-2,"type":"info","f":"extend","grant":1}
{"client":"c1","process":-2,"type":"event","f":"late"}
{"client":"c1","process":-3,"type":"invoke","f":"release","grant":1}
{"client":"c1","process":-3,"type":"ok","f":"release","grant":1}`},
		{"a server", `{:process :redis :type :event :f :expire :key "a"} {:process "redis" :type :info :f :failover :value [1 2]}`, `{"process":"redis","type":"event","f":"expire","key":"a"}
{"process":"redis","type":"info","f":"failover","text":"[1 2]"}`},

		// Faults.
		{"a fault", `{:process :nemesis :type :info :f :start :value nil} {:process :nemesis :type :info :f :start :value "n1"}`, `{"process":"nemesis","type":"info","f":"start"}
{"process":"nemesis","type":"info","f":"start","on":["n1"]}`},
		{"a fault of two nodes", `{:process "nemesis" :type :invoke :f :pause :value ["n1" :n2]}`, `{"process":"nemesis","type":"info","f":"pause","on":["n1","n2"]}`},
		{"a fault of a set", `{:process :nemesis :type :ok :f :kill :value #{:n1}}`, `{"process":"nemesis","type":"info","f":"kill","on":["n1"]}`},
		{"a fault of a map", `{:process :nemesis :type :info :f :kill :value {"n1" :killed, "n2" :killed}}`, `{"process":"nemesis","type":"info","f":"kill","on":["n1","n2"]}`},
		{"a partition", `{:process :nemesis :type :info :f :start-partition :value [:isolated {"n1" #{"n2"}}]}`, `{"process":"nemesis","type":"info","f":"start-partition","on":["n1"]}`},
		{"a sentence", `{:process :nemesis :type :info :f :stop :value "fully connected"}`, `{"process":"nemesis","type":"info","f":"stop","text":"fully connected"}`},
		{"numbers", `{:process :nemesis :type :info :f :bump :value {:n1 [1 2]} :on ["n3"] :id 3 :hits 0}`, `{"process":"nemesis","type":"info","f":"bump","text":"{:n1 [1 2]}","id":3,"on":["n3"],"hits":0}`},

		// EDN.
		{"strings and numbers", `{:process 0N :type :invoke :f :write :value +3 :text "a\t\"\u00fc\uD83D\uDD12\\
z" :more [\a \newline \u00fc \( -1.5e3 1M ##Inf 1/2 #inst "2020" 12345678901234567890N + -x a.b/c]}`, `{"client":"0","process":0,"type":"invoke","f":"write","value":3,"text":"a\u0009\"ü🔒\\\u000az"}`},
		{"what is discarded", `#_ #_ 1 2 {#_:no #_[1 2] :process 0 :type :invoke :f :try #_last} ;x`, `{"client":"0","process":0,"type":"invoke","f":"try"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, _, warnings := decode(t, "["+c.edn+"\n]")
			if len(warnings) > 0 {
				t.Errorf("the warnings are %v", warnings)
			}
			got := short(t, h.Entries)
			if strings.TrimSuffix(got, "\n") != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// These are the lines of an acquire, a failed try and other operations, in EDN
// and in our format.

func acquired(invoke, ok string) string {
	return "{:process 0 :type :invoke :f :acquire :value " + invoke + "} {:process 0 :type :ok :f :acquire :value " + ok + "}"
}

func got(lock, rest string) string {
	if lock != "" {
		lock = `,"lock":"` + lock + `"`
	}
	return `{"client":"0","process":0,"type":"invoke","f":"acquire"` + lock + "}\n" +
		`{"client":"0","process":0,"type":"ok","f":"acquire"` + lock + rest + "}"
}

func done(f, invoke, kind, completion string) string {
	return "{:process 0 :type :invoke :f :" + f + " :value " + invoke + "} {:process 0 :type :" + kind + " :f :" + f + " :value " + completion + "}"
}

func failed(err string) string {
	return "{:process 0 :type :invoke :f :try} {:process 0 :type :fail :f :try :error " + err + "}"
}

func said(rest string) string {
	if rest != "" {
		rest = "," + rest
	}
	return `{"client":"0","process":0,"type":"invoke","f":"try"}` + "\n" + `{"client":"0","process":0,"type":"fail","f":"try"` + rest + "}"
}

func TestAnEntryIsFoundByItsLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		want       []int
	}{
		{"JSON Lines", `{"lockcheck":1}` + "\n\n" + two, []int{3, 4}},
		{"EDN", "; one\n[{:process 0,\n:type :invoke\n:f :try}\n#_{\n}#x.Y{:process 0,\n:type :fail :f :try}]", []int{2, 6}},
		{"all on one line", "[{:process 0 :type :invoke :f :try} {:process 0 :type :ok :f :try}]", []int{1, 1}},
		{"text of several lines", "{:process 0 :type :invoke :f :try :text \"\n\n\"}\n{:process 0 :type :ok :f :try}", []int{1, 4}},
		{"a JSON array", "\n[\n {\"process\":0,\n\"type\":\"invoke\",\"f\":\"try\"}\n,\n{\"process\":0,\"type\":\"ok\",\"f\":\"try\"}\n]", []int{3, 6}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, lines, _ := decode(t, c.text)
			if !reflect.DeepEqual(lines, c.want) {
				t.Errorf("the entries begin on the lines %v, want %v", lines, c.want)
			}
		})
	}
}

const (
	invoked = "{:process 0 :type :invoke :f :try}\n"
	tried   = "{:process 0 :type :ok :f :try}\n"
)

func TestWhatIsWrongIsSaidWithItsLine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		// Not histories.
		{"a picture", "\x89PNG\r\n\x1a\n\x00\x00", "1: not a history: want JSON Lines, Jepsen's EDN or a JSON array"},
		{"a script", "#!/bin/sh\necho\n", "1: not a history: want JSON Lines, Jepsen's EDN or a JSON array"},
		{"words", "Lorem ipsum dolor\n", "1: not a history: want JSON Lines, Jepsen's EDN or a JSON array"},
		{"words after a comment", ";\nfour score\n", "2: not a history: want JSON Lines, Jepsen's EDN or a JSON array"},
		{"settings", "[section]\nkey=value\n", "1: not a history: want JSON Lines, Jepsen's EDN or a JSON array"},
		{"a program", "{ int a; }", "1: not a history: want JSON Lines, Jepsen's EDN or a JSON array"},
		{"10 MB on one line", strings.Repeat("x", 10<<20), "1: not a history: want JSON Lines, Jepsen's EDN or a JSON array"},
		{"UTF-16", "\xff\xfe{\x00\"\x00", "1: the file is UTF-16: save it as UTF-8"},
		{"a number in a vector", "[" + invoked + " 7]", "2: an operation is a map, not 7"},
		{"a vector in a vector", "[[1 2]]", "1: an operation is a map, not [1 2]"},

		// Impossible sequences.
		{"an unknown operation", "[" + invoked + "{:process 1 :type :invoke :f :aquire}]", "2: :f is :aquire: want acquire, try, release, extend, read, write or cas"},
		{"an unknown operation in JSON", `[{"process":1,"type":"invoke","f":"aquire"}]`, `1: "f" is "aquire": want acquire, try, release, extend, read, write or cas`},
		{"an unknown operation in a line", `{"process":1,"type":"invoke","f":"aquire"}`, `1: "f" is "aquire": want acquire, try, release, extend, read, write or cas`},
		{"a completion without an invoke", tried, "1: process 0 completes try without an invoke"},
		{"a completion of a name", `{:process "c1" :type :ok :f :try}`, "1: c1 completes try without an invoke"},
		{"an info of a name", `{:process "c1" :type :info :f :lock}`, "1: c1 completes lock without an invoke"},
		{"a second completion of a name", `{:process "c1" :type :invoke :f :try} {:process "c1" :type :ok :f :try} {:process "c1" :type :ok :f :try}`, "1: c1 completes try without an invoke"},
		{"two operations at once", invoked + invoked, "2: process 0 invokes try while its try at index 1 is open"},
		{"two operations of a name", `{:process "c1" :type :invoke :f :try} {:process "c1" :type :invoke :f :read}`, "1: c1 invokes read while its try is open"},
		{"an integer after its info", invoked + "{:process 0 :type :info :f :try}" + invoked, "2: process 0 retired: its last operation ended with info, and nothing may follow it"},
		{"the number of a name", `{:process "c1" :type :invoke :f :try} {:process -1 :type :invoke :f :try}`, "1: process -1 is the number that c1 was given: number processes from 0"},
		{"time backwards", "[{:process 0 :type :invoke :f :try :time 5}\n{:process 0 :type :ok :f :try :time 4}]", "2: time 4 ns follows 5 ns: it runs backwards (lines with an :index may be out of time)"},
		{"time backwards in JSON", `[{"process":0,"type":"invoke","f":"try","time":5},` + "\n" + `{"process":0,"type":"ok","f":"try","time":4}]`, "2: time 4 ns follows 5 ns: it runs backwards (lines with an \"index\" may be out of time)"},
		{"time backwards in lines", `{"process":0,"type":"invoke","f":"lock","index":1,"time":5}` + "\n" + `{"process":0,"type":"ok","f":"lock","time":4,"index":2}`, "2: time 4 ns follows 5 ns: it runs backwards"},
		{"time backwards by far", "[{:process 0 :type :invoke :f :try :time 5000000000}\n{:process 0 :type :ok :f :try :time 4998999999}]", "2: time 4998999999 ns follows 5000000000 ns: it runs backwards (lines with an :index may be out of time)"},
		{"an index that stays", "[{:process 0 :type :invoke :f :try :index 5}\n{:process 0 :type :ok :f :try :index 5}]", "2: index 5 follows index 5: it must grow"},
		{"two locks", `{:process 0 :type :invoke :f :try :lock "a" :value {:lock "b"}}`, `1: :lock is "a" and in the value "b": want one lock`},

		// Fields.
		{"no type", "{:process 0 :f :try}", "1: :type is missing"},
		{"no type in JSON", `[{"process":0,"f":"try"}]`, `1: "type" is missing`},
		{"a strange type", "{:process 0 :type :done :f :try}", "1: :type is :done: want invoke, ok, fail, info or event"},
		{"no process", "{:type :ok :process nil :f :try}", "1: :process is missing"},
		{"a strange process", "{:type :ok :process 1.5 :f :try}", "1: :process is 1.5: want an integer or a name"},
		{"a process that is too large", "{:type :ok :process 99999999999999999999 :f :try}", "1: :process is 99999999999999999999: it does not fit 64 bits"},
		{"a process that is too small", `[{"type":"ok","process":-99999999999999999999,"f":"try"}]`, `1: "process" is -99999999999999999999: it does not fit 64 bits`},
		{"no f", "{:type :ok :process 0}", "1: :f is missing"},
		{"a strange f", "{:type :ok :process 0 :f [1]}", "1: :f is [1]: want a keyword or a string"},
		{"a key twice", "{:type :ok :type :ok :process 0 :f :try}", "1: :type occurs twice"},
		{"half a nanosecond", "{:process 0 :type :invoke :f :try :time 1.5}", "1: :time is 1.5: want nanoseconds, as an integer"},
		{"a date", `{:process 0 :type :invoke :f :try :time #inst "2020-01-01"}`, `1: :time is "2020-01-01": want nanoseconds, as an integer`},
		{"a strange index", `{:process 0 :type :invoke :f :try :index "1"}`, `1: :index is "1": want a 64-bit integer`},
		{"a negative token", `{:process 0 :type :invoke :f :try :token -1}`, `1: :token is -1: want an integer from 0 to 2^63-1`},
		{"a negative token as a value", acquired("nil", "-1"), `1: :token is -1: want an integer from 0 to 2^63-1`},
		{"a negative grant", `{:process 0 :type :invoke :f :try :grant -1}`, `1: :grant is -1: grants are counted from 1`},
		{"a strange lock", `{:process 0 :type :invoke :f :try :lock [1]}`, `1: :lock is [1]: want a name`},
		{"a lock that is three", `{:process 0 :type :invoke :f :try :value [1 2 3]}`, `1: :value is [1 2 3]: want a lock's name or [client lock]`},
		{"a lock that is true", `{:process 0 :type :invoke :f :try :value true}`, `1: :value is true: want a lock's name or [client lock]`},
		{"strange victims", `{:process :nemesis :type :info :f :kill :on "a"}`, `1: :on is "a": want a list of names`},
		{"half shared", `{:process 0 :type :invoke :f :try :shared 1}`, `1: :shared is 1: want true or false`},
		{"a value that is text", done("write", `"x"`, "ok", "1"), `1: :value is "x": want a 64-bit integer`},
		{"a value that is a fraction", done("read", "nil", "ok", "1.5"), `1: :value is 1.5: want a 64-bit integer`},
		{"a value that is too large", done("write", "9223372036854775808", "ok", "1"), `1: :value is 9223372036854775808: want a 64-bit integer`},
		{"a cas of one", done("cas", "[1]", "ok", "1"), `1: :value is [1]: a cas wants [old new], two 64-bit integers`},
		{"a cas of a number", invoked + `{:process 1 :type :invoke :f :cas :value 5}`, `2: :value is 5: a cas wants [old new], two 64-bit integers`},
		{"a cas of a number in JSON", `[{"process":1,"type":"invoke","f":"cas","value":5}]`, `1: "value" is 5: a cas wants [old new], two 64-bit integers`},
		{"a cas of a name and a number", done("cas", `["x" 5]`, "ok", "nil"), `1: :value is ["x" 5]: a cas wants [old new], two 64-bit integers`},
		{"a strange header", "[{:lockcheck 2}]", `1: "lockcheck" is 2: this lockcheck reads format 1`},
		{"a long value", done("write", `"`+strings.Repeat("ü", 99)+`"`, "ok", "1"), `1: :value is "` + strings.Repeat("ü", 19) + `…: want a 64-bit integer`},

		// EDN.
		{"a bracket too many", "[" + invoked + "]\n]", "3: unexpected ]: there is no open bracket"},
		{"a bracket too many after maps", invoked + "}", "2: unexpected }: there is no open bracket"},
		{"the wrong bracket", "[" + invoked + ")", "2: unexpected ): there is no open bracket"},
		{"the wrong bracket inside", "[{:process [0}]", "1: unexpected }: want ] first"},
		{"two vectors", "[" + invoked + "]\n[", "3: a second collection begins: a history is one vector or list, or maps"},
		{"maps and a vector", invoked + "[", "2: a collection begins after maps: a history is one vector or list, or maps"},
		{"a vector and a map", "[" + invoked + "]\n{}", "3: something follows the end of the history: it is one collection"},
		{"an array and a word", `[{"process":0,"type":"invoke","f":"try"}]` + "\nend", "2: something follows the end of the history: it is one collection"},
		{"a key without a value", "{:process 0 :type}", "1: the map that ends here has a key without a value"},
		{"an unclosed operation", "[{:process 0 :type :invoke :f :try\n" + invoked + tried + "]", "4: unexpected ]: want } first"},
		{"an unclosed operation at the end", "{:process 0 :type :invoke :f :try\n" + invoked + tried, "1: the operation that begins here is not closed and contains others"},
		{"an operation that is cut off and alone", "[{:process 0", "1: the file is cut off in its first operation"},
		{"too deep", "[{:process " + strings.Repeat("[", 1000), "1: nested deeper than 100"},
		{"too many tags", strings.Repeat("#a ", 1000), "1: nested deeper than 100"},
		{"too many discards", strings.Repeat("#_ ", 1000), "1: nested deeper than 100"},
		{"too long", "[" + invoked + `{:text "` + strings.Repeat("x\n", 1<<20), "2: one operation is longer than 1 MiB: is this a history?"},
		{"an unknown escape", `{:text "\q"}`, `1: the string has the unknown escape \q`},
		{"a half escape", `{:text "\u12"}`, `1: the string has the escape \u12"}: want four hexadecimal digits`},
		{"half a pair", `{:text "\ud800x"}`, `1: the string has half of a surrogate pair, \ud800`},
		{"a strange number", `{:time 1x}`, `1: "1x" is not a number`},
		{"a keyword without a name", `{: 1}`, `1: the keyword : has no name`},
		{"a strange character", "[{:a @b}]", `1: unexpected '@'`},
		{"a strange tag", `[{:a #"x"}]`, `1: unexpected #"`},
		{"no UTF-8", "[" + invoked + "{:text \"\xff\"}]", "2: not UTF-8: byte 0xff"},
		{"no UTF-8 in a comment", invoked + "; \xc3(", "2: not UTF-8: byte 0xc3"},
		{"no UTF-8 in JSON", `[{"text":"` + "\xed\xa0\x80" + `"}]`, "1: not UTF-8: byte 0xed"},
		{"no UTF-8 in a line", two + `{"text":"` + "\xff" + `"}`, "3: not UTF-8: byte 0xff at column 10"},

		// JSON.
		{"a missing comma", `[{"process":0,"type":"invoke","f":"try"}` + "\n{}]", `2: unexpected '{': want , or ] after an operation`},
		{"a comma too many", `[{"process":0,"type":"invoke","f":"try"},]`, `1: unexpected ]: want an operation after the comma`},
		{"a comma in an object", `[{"process":0,}]`, `1: want a key in quotes`},
		{"a missing value", `[{"process":}]`, `1: unexpected }: want the value of "process"`},
		{"a missing colon", `[{"process":0,"f" 1}]`, `1: unexpected '1': want : after the key "f"`},
		{"a missing comma in an object", `[{"process":0 "f":1}]`, `1: unexpected '"': want , or }`},
		{"a missing comma in a list", `[{"process":[0 1]}]`, `1: unexpected '1': want , or ]`},
		{"no word of JSON", `[{"process":nil}]`, `1: "nil" is neither a number nor true, false or null`},
		{"a leading zero", `[{"process":01}]`, `1: "01" is neither a number nor true, false or null`},
		{"a line break in a string", "[{\"text\":\"\n\"}]", `2: the string has a control character: write it as \u000a`},
		{"a broken line", two + "{\n" + two, "3: not JSON: unexpected end of JSON input"},
		{"a line of 10 MB", two + `{"text":"` + strings.Repeat("x", 10<<20), "3: the line is longer than 1 MiB: is this a history?"},

		// Compressed files.
		{"a gzip stream that is cut off", zipped(strings.Repeat(two, 1))[:60], "1: the gzip stream is cut off"},
		{"a gzip header that is cut off", "\x1f\x8b\x08", "1: the gzip stream is cut off"},
		{"a gzip stream that is damaged", zipped(two)[:10] + "\xff\xff\xff\xff", "1: the gzip stream is damaged"},
		{"words after a gzip stream", zipped(two) + "hello, here I am", "3: the gzip stream is damaged"},
		{"EDN whose gzip stream is cut off", cutOff("[" + strings.Repeat(invoked+tried, 20000)), "lines: the gzip stream is cut off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, _, _, err := decodeAll(strings.NewReader(c.text))
			if err == nil {
				t.Fatalf("it is a history of %d entries", len(h.Entries))
			}
			got := strings.TrimPrefix(err.Error(), "file:")
			if want, ok := strings.CutPrefix(c.want, "lines: "); ok {
				_, got, _ = strings.Cut(got, ": ")
				c.want = want
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if _, ok := errors.AsType[*history.SyntaxError](err); !ok {
				t.Errorf("it is a %T", err)
			}
		})
	}
}

func cutOff(text string) string {
	z := zipped(text)
	return z[:len(z)-9]
}

func TestWhatIsOddIsAWarning(t *testing.T) {
	t.Parallel()
	array := `[{"process":0,"type":"invoke","f":"try"}`
	for _, c := range []struct {
		name, text string
		entries    int
		want       string
	}{
		{"nothing", "", 0, ""},
		{"nothing, compressed", zipped(""), 0, ""},
		{"blanks", " \n\n", 0, ""},
		{"very many blanks", strings.Repeat("\n", 1<<18), 0, ""},
		{"comments", "; nothing\n#_{}", 0, ""},
		{"an empty vector", "[]", 0, ""},
		{"a header", "[{:lockcheck 1}]", 0, ""},
		{"a vector that begins", "[", 0, "file:1: the file is cut off"},
		{"a vector that is not closed", "[" + invoked + tried, 2, "file:3: the file is cut off"},
		{"a vector that ends in an operation", "[" + invoked + "{:process 0\n:type", 1, "file:2: the file is cut off: the operation that begins here is ignored"},
		{"maps that end in an operation", invoked + tried + `{:process 0 :text "` + "\xc3", 2, "file:3: the file is cut off: the operation that begins here is ignored"},
		{"an array that is not closed", array, 1, "file:1: the file is cut off"},
		{"an array that ends after a comma", array + ",\n", 1, "file:2: the file is cut off"},
		{"an array that ends in an operation", array + ",\n" + `{"process":0,"ty`, 1, "file:2: the file is cut off: the operation that begins here is ignored"},
		{"a last line that is cut off", two + `{"process`, 2, "file:3: the last line is cut off and ignored"},
		{"a nemesis without a fault", "{:process :nemesis :type :info :f nil}\n" + invoked + "{:process :nemesis :type :info}", 1, "file:1: the nemesis names no fault 2 times: these lines are ignored"},
		{
			"times that run backwards while the index grows",
			"{:process 0 :type :invoke :f :try :time 5 :index 0}\n{:process 1 :type :invoke :f :try :time 4.0 :index 1}\n{:process 2 :type :invoke :f :try :time 2e0 :index 7}\n{:process 0 :type :ok :f :try :time 6 :index 8}",
			4, "file:2: time runs backwards 2 times, by up to 3ns: the order of the lines counts",
		},
		{
			"times that run backwards by a hair",
			"{:process 0 :type :invoke :f :try :time 5000000000}\n{:process 1 :type :invoke :f :try :time 4999000000}",
			2, "file:2: time runs backwards once, by up to 1ms: the order of the lines counts",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h, lines, warnings := decode(t, c.text)
			if len(h.Entries) != c.entries || len(lines) != c.entries {
				t.Errorf("it has %d entries on %d lines, want %d", len(h.Entries), len(lines), c.entries)
			}
			var got []string
			for _, w := range warnings {
				got = append(got, w.String())
			}
			if strings.Join(got, "\n") != c.want {
				t.Errorf("the warnings are %q, want %q", got, c.want)
			}
		})
	}
}

// A file that a crash has cut off at any point gives the history up to there. An
// incomplete first operation is an error.
func TestAFileIsReadAsFarAsItGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text string }{
		{"EDN", `[{:process 0, :type :invoke, :f :cas, :value [1 -2], :time 10}
 #jepsen.history.Op{:process 0, :type :info, :f :cas, :value [1 -2], :error [:gone "n1 \u00fc \\ é"]}
 #:op{:process 1, :type :invoke, :f :read, :shared false, :more #{\a ##Inf nil 1/2 2.5M}} ; {a comment}
 #_{:process 9}
 {"process" 1, "type" "ok", "f" "read", "value" 12}
]
; the end
`},
		{"a list", "(" + invoked + tried + ")"},
		{"a JSON array", `[
 {"process": 0, "type": "invoke", "f": "cas", "value": [1, -2], "time": 1.0e1},
 {"process": 0, "type": "info", "f": "cas", "value": [1, -2], "error": ["gone", "n1 \u00fc \ud83d\udd12 é"]},
 {"process": 1, "type": "invoke", "f": "read", "value": null, "shared": false, "more": {"a": [true, {}]}},
 {"process": 1, "type": "ok", "f": "read", "value": 12}
]
`},
		{"a map a line", `{:process 0, :type :invoke, :f :write, :value 1}
#jepsen.history.Op{:process :nemesis, :type :info, :f :kill, :value {"n1" :killed}}
{:process 0, :type :ok, :f :write, :value 1}
`},
		{"JSON Lines", strings.ReplaceAll(two, `"lock":"a"`, `"lock":"\u00fcü"`)},
		{"a header", `{"lockcheck":1,"fencing":"writes"}` + "\n" + two},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole, lines, _ := decode(t, c.text)
			for n := range len(c.text) {
				text := c.text[:n]
				h, _, warnings, err := decodeAll(strings.NewReader(text))
				if err != nil {
					first := strings.Join(strings.SplitAfter(c.text, "\n")[:lines[0]], "")
					if want := "the file is cut off in its first "; !strings.Contains(err.Error(), want) || n >= len(first) {
						t.Errorf("%q: %v", text, err)
					}
					continue
				}
				if k := len(h.Entries); !reflect.DeepEqual(h.Entries, whole.Entries[:k:k]) && k > 0 {
					t.Errorf("%q is read as\n%+v", text, h.Entries)
				}
				// Complete operations are read, and an incomplete one gives a
				// warning.
				if k := strings.Count(text, "\n") + 1; len(h.Entries) < len(lines) && k > lines[len(h.Entries)] {
					t.Errorf("%q: only %d entries are read", text, len(h.Entries))
				}
				piece := text != "" && !strings.HasSuffix(strings.TrimSpace(text), "}")
				if piece && len(h.Entries) < len(lines) && len(warnings) == 0 {
					t.Errorf("%q: no warning", text)
				}
				for _, w := range warnings {
					if !strings.Contains(w.Text, "cut off") {
						t.Errorf("%q: %v", text, w)
					}
				}
			}
		})
	}
}

func TestTimesThatRunBackwardsBecomeTheLatestSoFar(t *testing.T) {
	t.Parallel()
	h, _, _ := decode(t, `[{:process 0 :type :invoke :f :try :time -7 :index 0} {:process 1 :type :invoke :f :try :time 9 :index 1}
{:process 2 :type :invoke :f :try :time 4 :index 2} {:process 0 :type :ok :f :try :index 3} {:process 1 :type :ok :f :try :time 10 :index 4}]`)
	var got []int64
	for _, e := range h.Entries {
		got = append(got, int64(e.Time))
	}
	if want := []int64{-7, 9, 9, 9, 10}; !reflect.DeepEqual(got, want) {
		t.Errorf("the times are %v, want %v", got, want)
	}
}

func TestOneLineMayHoldAllOperations(t *testing.T) {
	t.Parallel()
	text := "[" + strings.Repeat(strings.ReplaceAll(invoked+tried, "\n", " "), 40000) + "]"
	h, lines, _ := decode(t, text)
	if len(h.Entries) != 80000 || lines[79999] != 1 {
		t.Errorf("%d entries", len(h.Entries))
	}
}

func TestAWarningNamesTheSameLockEachTime(t *testing.T) {
	t.Parallel()
	text := "["
	for i, lock := range strings.Fields("d b a c") {
		text += fmt.Sprintf("{:process %d :type :invoke :f :acquire :value %q}", i, lock)
	}
	for range 50 {
		_, _, warnings := decode(t, text+"]")
		if len(warnings) != 1 || !strings.Contains(warnings[0].String(), `this one is "a"`) {
			t.Fatalf("the warnings are %v, want one that names a", warnings)
		}
	}
}

func TestLinesOfJepsensShapeMayStandBetweenOurs(t *testing.T) {
	t.Parallel()
	h, _, _ := decode(t, `{"process":0,"type":"invoke","f":"acquire","value":null}
{"process":0,"type":"ok","f":"acquire","value":34}
{"process":"c1","type":"invoke","f":"read","value":null}
{"process":"c1","type":"info","f":"read","error":["timeout",{"ms":5}]}
{"process":"c1","type":"invoke","f":"cas","value":[0,3]}
{"process":"nemesis","type":"info","f":"kill","value":["n1"]}
{"process":"redis","type":"info","f":"failover"}
{"process":0,"type":"invoke","f":"release","value":["x",null]}
{"process":0,"type":"ok","f":"release"}
`)
	const want = `{"client":"0","process":0,"type":"invoke","f":"acquire"}
{"client":"0","process":0,"type":"ok","f":"acquire","grant":1,"token":34}
{"client":"c1","process":-1,"type":"invoke","f":"read"}
{"client":"c1","process":-1,"type":"info","f":"read","error":"timeout","text":"[\"timeout\" {\"ms\" 5}]"}
{"client":"c1","process":-2,"type":"invoke","f":"cas","value":3,"was":0}
{"process":"nemesis","type":"info","f":"kill","on":["n1"]}
{"process":"redis","type":"info","f":"failover"}
{"client":"0","process":0,"type":"invoke","f":"release","lock":"x"}
{"client":"0","process":0,"type":"ok","f":"release","lock":"x"}
`
	if got := short(t, h.Entries); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestAHeaderMakesOurFormatComeFirst(t *testing.T) {
	t.Parallel()
	h, _, _ := decode(t, `[{:lockcheck 1, :lease-ms 10000, :fencing "writes", :seed 18446744073709551615, :promises [:exclusion], :observes nil}
{:process 0 :type :invoke :f :acquire :value 3 :key "k"} {:process "c1" :type :info :f :acquire} {:process 0 :type :ok :f :acquire :value 4}]`)
	header := history.Header{Format: 1, LeaseMS: 10000, Fencing: history.FencingWrites, Seed: 1<<64 - 1, Promises: []string{"exclusion"}}
	if !reflect.DeepEqual(h.Header, header) {
		t.Errorf("the header is %+v", h.Header)
	}
	const want = `{"client":"0","process":0,"type":"invoke","f":"acquire","value":3,"key":"k"}
{"process":"c1","type":"info","f":"acquire"}
{"client":"0","process":0,"type":"ok","f":"acquire","grant":1,"value":4}
`
	if got := short(t, h.Entries); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestErrorsOfTheReaderBelowNameTheFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "[", "[" + invoked, invoked, two, `[{"process":0,"type":"invoke","f":"try"}`, `{"lockcheck":1}` + "\n"} {
		_, _, _, err := decodeAll(io.MultiReader(strings.NewReader(text), broken{}))
		if !errors.Is(err, os.ErrPermission) || !strings.HasPrefix(err.Error(), "file: ") {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, os.ErrPermission }

// oneByte has only one byte ready at a time, like a slow pipe.
type oneByte struct{ r io.Reader }

func (o oneByte) Read(b []byte) (int, error) { return o.r.Read(b[:1]) }

func TestAPipeIsReadAsItComes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{two, invoked + tried, " [ " + invoked + tried + "]", `[ { "process":0,"type":"invoke","f":"try"},{"process":0,"type":"ok","f":"try"}]`} {
		h, _, _, err := decodeAll(oneByte{strings.NewReader(text)})
		if err != nil || len(h.Entries) != 2 {
			t.Errorf("%q: %v", text, err)
		}
	}
}
