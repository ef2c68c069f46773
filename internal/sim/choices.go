package sim

import (
	"encoding/json"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Name says what was decided: "latency c2→redis-1 #14".
type Name struct {
	What string // latency, backoff, think
	Who  string // a client, or a link as "c2→redis-1": without a space
	N    int    // the how manieth of What and Who, from 1
}

func (n Name) String() string { return fmt.Sprintf("%s %s #%d", n.What, n.Who, n.N) }

// ParseName reads what Name.String writes, and nothing else.
func ParseName(s string) (Name, error) {
	front, number := cutLast(s, " #")
	what, who := cutLast(front, " ")
	i, err := strconv.Atoi(number)
	n := Name{what, who, i}
	if err != nil || n.String() != s {
		return Name{}, fmt.Errorf("%q names no choice: it should be as %q", s, Name{"latency", "c2→redis-1", 14})
	}
	return n, nil
}

// cutLast cuts s around the last sep.
func cutLast(s, sep string) (before, after string) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+len(sep):]
}

// MarshalText is String. It fails where ParseName would read another name.
func (n Name) MarshalText() ([]byte, error) {
	s := n.String()
	if back, err := ParseName(s); err != nil || back != n {
		return nil, fmt.Errorf("the choice %+v has a name that cannot be written", n)
	}
	return []byte(s), nil
}

// UnmarshalText is ParseName.
func (n *Name) UnmarshalText(text []byte) (err error) {
	*n, err = ParseName(string(text))
	return err
}

// Choice is one decision of a run.
type Choice struct {
	Name  Name
	Value int64 // 0 is the least disturbing value
}

// MarshalJSON writes a pair: ["latency c2→redis-1 #14",164891].
func (c Choice) MarshalJSON() ([]byte, error) { return json.Marshal([]any{c.Name, c.Value}) }

// UnmarshalJSON reads it.
func (c *Choice) UnmarshalJSON(text []byte) error {
	pair := []any{&c.Name, &c.Value}
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 || pair[0] == nil || pair[1] == nil { // nil: it was null
		return fmt.Errorf("a choice is a name and a value, and not %s", text)
	}
	return nil
}

// Choices decides everything in a run that could have come out otherwise.
// Fresh ones draw from a seed. Replayed ones follow a record: a name that is
// not in it gets 0, so that a record still speaks after a lock has changed.
type Choices struct {
	rng      *rand.PCG // nil: replayed
	pcg      rand.PCG  // what rng points to
	record   bool      // always where choices are replayed
	made     []Choice
	replayed map[Name]int64
	used     int
	missing  int
	pct      *pct   // chooses the latencies; nil: they are drawn
	order    *Order // decides instead of time; nil: what comes first in time comes first
}

// Draw makes choices from a seed. With record they can be asked for afterwards.
func Draw(seed uint64, record bool) *Choices {
	return new(Choices).Draw(seed, record)
}

// Draw makes c what the function makes.
func (c *Choices) Draw(seed uint64, record bool) *Choices {
	*c = Choices{record: record}
	c.rng = &c.pcg
	c.pcg.Seed(seed, 0x6c6f636b)
	return c
}

// Replay makes the choices of a record.
func Replay(record []Choice) *Choices {
	c := &Choices{record: true, replayed: make(map[Name]int64, len(record))}
	for _, ch := range record {
		c.replayed[ch.Name] = ch.Value
	}
	return c
}

// Made is every choice so far, in order; nil unless recorded.
func (c *Choices) Made() []Choice { return c.made }

// Mismatch says how many names were asked for that the record did not have,
// and how many that it had were not asked for.
func (c *Choices) Mismatch() (missing, unused int) {
	if c.order != nil {
		return c.order.mismatch()
	}
	return c.missing, len(c.replayed) - c.used
}

// named tells whether anybody asks what choices are called. To count and put
// together names takes longer than to draw.
func (c *Choices) named() bool { return c.record }

// draw returns 0 ≤ x < n, where nobody asks for a name.
func (c *Choices) draw(n int64) int64 {
	// The high half of a product is even to one in 2^64/n, and takes no division.
	hi, _ := bits.Mul64(c.rng.Uint64(), uint64(n))
	return int64(hi)
}

// choose returns 0 ≤ x < n.
func (c *Choices) choose(name Name, n int64) int64 {
	var v int64
	if c.rng != nil {
		v = c.draw(n)
	} else if old, ok := c.replayed[name]; ok {
		c.used++
		v = max(0, min(old, n-1))
	} else {
		c.missing++
	}
	if c.record {
		c.made = append(c.made, Choice{name, v})
	}
	return v
}

// reserve puts a choice into the record whose value is settled later, and
// returns its place.
func (c *Choices) reserve(name Name, until int64) int {
	if !c.record {
		return -1
	}
	c.made = append(c.made, Choice{name, until})
	return len(c.made) - 1
}

// settle gives a reserved choice its value.
func (c *Choices) settle(place int, v int64) {
	if place >= 0 {
		c.made[place].Value = v
	}
}
