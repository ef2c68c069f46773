package env

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestNamesOfChoicesSurviveWritingAndReading(t *testing.T) {
	for _, n := range []Name{{"latency", "c2→redis-1", 14}, {"think", "c1", 1}, {"pause of a client: how long", "c1", 2}} {
		got, err := ParseName(n.String())
		if err != nil || got != n {
			t.Errorf("%v is read as %v, %v", n, got, err)
		}
	}
}

func TestParseNameRejectsMalformedNames(t *testing.T) {
	for _, s := range []string{"", "latency", "latency c1", "latency c1 14", "latency c1 #", "latency c1 #+1", "latency c1 #1 ", "latency c1 #01", "#1"} {
		if n, err := ParseName(s); err == nil {
			t.Errorf("%q is read as %+v", s, n)
		}
	}
}

func TestChoicesSurviveWritingAndReading(t *testing.T) {
	made := []Choice{{Name: Name{What: "latency", Who: "c2→redis-1", N: 14}, Value: 164891}, {Name: Name{What: "backoff", Who: "c1", N: 1}, Value: 0}}
	text, err := json.Marshal(made)
	if err != nil {
		t.Fatal(err)
	}
	if want := `[["latency c2→redis-1 #14",164891],["backoff c1 #1",0]]`; string(text) != want {
		t.Errorf("written as\n  %s\nwant\n  %s", text, want)
	}
	var read []Choice
	if err := json.Unmarshal(text, &read); err != nil || !slices.Equal(read, made) {
		t.Errorf("%s is read as %v, %v", text, read, err)
	}
}

func TestAChoiceThatCannotBeReadBackIsNotWritten(t *testing.T) {
	if text, err := json.Marshal(Choice{Name: Name{What: "latency", Who: "client 2", N: 1}}); err == nil {
		t.Errorf("written as %s", text)
	}
}

func TestMalformedChoicesAreRejected(t *testing.T) {
	for _, text := range []string{
		`[]`, `["think c1 #1"]`, `["think c1 #1",1,2]`, `["think c1",1]`, `["think c1 #1","1"]`, `["think c1 #1",1.5]`,
		`["think c1 #1",null]`, `[null,1]`, `{"name":"think c1 #1","value":1}`,
	} {
		var c Choice
		if err := json.Unmarshal([]byte(text), &c); err == nil {
			t.Errorf("%s is read as %v", text, c)
		}
	}
}
