package history

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// typeNames are the types in a file's spelling.
var typeNames = [...]string{Invoke: "invoke", OK: "ok", Fail: "fail", Info: "info", Event: "event"}

// String returns the type in a file's spelling, or "?".
func (t Type) String() string {
	if t == 0 || int(t) >= len(typeNames) {
		return "?"
	}
	return typeNames[t]
}

// parseType is the inverse of Type.String; 0 means an unknown type.
func parseType(s string) Type {
	for t := Invoke; t <= Event; t++ {
		if typeNames[t] == s {
			return t
		}
	}
	return 0
}

// String returns the process for people: its number or its name.
func (p Process) String() string {
	if p.Client() {
		return strconv.Itoa(p.N)
	}
	return p.Name
}

// MarshalJSON writes false, true or "writes".
func (f Fencing) MarshalJSON() ([]byte, error) {
	switch f {
	case FencingOff:
		return []byte("false"), nil
	case FencingAll:
		return []byte("true"), nil
	default:
		return json.Marshal(string(f))
	}
}

// UnmarshalJSON reads what MarshalJSON writes, and "all" for true. Anything
// else is an error.
func (f *Fencing) UnmarshalJSON(b []byte) error {
	switch string(b) {
	case "false", "null":
		*f = FencingOff
	case "true", `"all"`:
		*f = FencingAll
	case `"writes"`:
		*f = FencingWrites
	default:
		return fmt.Errorf(`"fencing" is %s: want false, true or "writes"`, b)
	}
	return nil
}
