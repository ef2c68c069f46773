package env

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Name names a choice: "latency c2→redis-1 #14".
type Name struct {
	What string // latency, backoff, think
	Who  string // a client, or a link as "c2→redis-1": without a space
	N    int    // counts the choices of What and Who, from 1
}

func (n Name) String() string { return fmt.Sprintf("%s %s #%d", n.What, n.Who, n.N) }

// ParseName reads a name that Name.String wrote. It returns an error for any other
// string.
func ParseName(s string) (Name, error) {
	front, number := cutLast(s, " #")
	what, who := cutLast(front, " ")
	i, err := strconv.Atoi(number)
	n := Name{what, who, i}
	if err != nil || n.String() != s {
		return Name{}, fmt.Errorf("%q is not the name of a choice; an example is %q", s, Name{"latency", "c2→redis-1", 14})
	}
	return n, nil
}

func cutLast(s, sep string) (before, after string) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+len(sep):]
}

// MarshalText returns String. It returns an error if ParseName would read another name.
func (n Name) MarshalText() ([]byte, error) {
	s := n.String()
	if back, err := ParseName(s); err != nil || back != n {
		return nil, fmt.Errorf("the name of the choice %+v cannot be read back", n)
	}
	return []byte(s), nil
}

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

func (c *Choice) UnmarshalJSON(text []byte) error {
	pair := []any{&c.Name, &c.Value}
	if err := json.Unmarshal(text, &pair); err != nil {
		return err
	}
	if len(pair) != 2 || pair[0] == nil || pair[1] == nil { // nil: JSON null
		return fmt.Errorf("a choice must be a name and a value, not %s", text)
	}
	return nil
}
