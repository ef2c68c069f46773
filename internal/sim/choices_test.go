package sim

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestNamesOfChoicesAreReadAsTheyAreWritten(t *testing.T) {
	for _, n := range []Name{{"latency", "c2→redis-1", 14}, {"think", "c1", 1}, {"pause of a client: how long", "c1", 2}} {
		got, err := ParseName(n.String())
		if err != nil || got != n {
			t.Errorf("%v is read as %v, %v", n, got, err)
		}
	}
}

func TestWhatIsNoNameOfAChoiceIsRefused(t *testing.T) {
	for _, s := range []string{"", "latency", "latency c1", "latency c1 14", "latency c1 #", "latency c1 #+1", "latency c1 #1 ", "latency c1 #01", "#1"} {
		if n, err := ParseName(s); err == nil {
			t.Errorf("%q is read as %+v", s, n)
		}
	}
}

func TestChoicesAreReadAsTheyAreWritten(t *testing.T) {
	made := []Choice{{Name{"latency", "c2→redis-1", 14}, 164891}, {Name{"backoff", "c1", 1}, 0}}
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

func TestAChoiceThatCannotBeReadAgainIsNotWritten(t *testing.T) {
	if text, err := json.Marshal(Choice{Name: Name{"latency", "client 2", 1}}); err == nil {
		t.Errorf("written as %s", text)
	}
}

func TestWhatIsNoChoiceIsRefused(t *testing.T) {
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

// A record may have been edited, or come from a lock that drew from more.
func TestAReplayedChoiceStaysInItsBounds(t *testing.T) {
	c := Replay([]Choice{{Name{"think", "c1", 1}, -1}, {Name{"think", "c1", 2}, 6}, {Name{"think", "c1", 3}, 7}, {Name{"think", "c1", 4}, 1 << 40}})
	w := &World{choices: c}
	for i, want := range []int64{0, 6, 6, 6, 0} {
		if got := w.Rand("c1", "think", 7); got != want {
			t.Errorf("choice %d is %d, want %d", i+1, got, want)
		}
	}
	if missing, unused := c.Mismatch(); missing != 1 || unused != 0 {
		t.Errorf("%d choices were missing and %d left over", missing, unused)
	}
}

func TestADrawnChoiceStaysInItsBounds(t *testing.T) {
	w := &World{choices: Draw(1, true)}
	seen := map[int64]bool{}
	for range 1000 {
		seen[w.Rand("c1", "think", 7)] = true
	}
	for v := range seen {
		if v < 0 || v >= 7 {
			t.Errorf("drew %d of 7", v)
		}
	}
	if len(seen) != 7 || len(w.choices.Made()) != 1000 {
		t.Errorf("%d values in %d choices", len(seen), len(w.choices.Made()))
	}
}
