package ask

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Duration is the value of a flag: a length of time.
type Duration time.Duration

// Set reads a duration such as "90s" or "1m30s".
func (d *Duration) Set(text string) error {
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("want a duration, as 2s or 1m")
	}
	*d = Duration(parsed)
	return nil
}

// String returns d without the units that are zero.
func (d *Duration) String() string {
	if *d == 0 {
		return "0"
	}
	text := time.Duration(*d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Type returns the name that cobra shows where the usage text names none.
func (d *Duration) Type() string { return "duration" }

// Size is the value of a flag: a number of bytes.
type Size int64

// byteUnits are the possible units of a size, in lower case, the largest first.
var byteUnits = []struct {
	name string
	size float64
}{
	{"tib", 1 << 40},
	{"gib", 1 << 30},
	{"mib", 1 << 20},
	{"kib", 1 << 10},
	{"tb", 1e12},
	{"gb", 1e9},
	{"mb", 1e6},
	{"kb", 1e3},
	{"b", 1},
}

// fewBytes is the size below which the unit was probably forgotten.
const fewBytes = 1 << 20

// Set reads a size such as "1500000", "500MB" or "1.5 GiB".
func (s *Size) Set(text string) error {
	number, unit := strings.ToLower(strings.TrimSpace(text)), 1.0
	bare := true
	for _, u := range byteUnits {
		if n, found := strings.CutSuffix(number, u.name); found {
			number, unit, bare = strings.TrimSpace(n), u.size, false
			break
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !(n >= 0 && n*unit < math.MaxInt64):
		return errors.New("want a number of bytes, as 1500000, 500MB or 2GiB")
	case bare && n > 0 && n < fewBytes:
		return fmt.Errorf("%s is bytes; did you mean %sMB?", number, number)
	}
	*s = Size(n * max(unit, 1))
	return nil
}

// String returns s in the largest unit that divides it.
func (s *Size) String() string {
	for _, u := range []struct {
		name string
		size Size
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"GB", 1e9}, {"MB", 1e6}} {
		if *s > 0 && *s%u.size == 0 {
			return fmt.Sprint(int64(*s/u.size), u.name)
		}
	}
	return fmt.Sprint(int64(*s))
}

// Type returns the name that cobra shows where the usage text names none.
func (s *Size) Type() string { return "size" }
