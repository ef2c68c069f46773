// Package rapidtest runs tests on inputs that rapid draws. They are the same in each run,
// so that no change fails by chance. Another seed is given by the flag -rapid.seed or
// the variable RAPID_SEED.
package rapidtest

import (
	"flag"
	"strconv"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// taking guards rapid's flags, which are for the whole program.
var taking sync.Mutex

// Check is rapid.Check, with a fixed seed unless another one is given.
func Check(t rapid.TB, prop func(*rapid.T)) {
	t.Helper()
	check(t, "", prop)
}

// CheckN is Check with n inputs.
func CheckN(t rapid.TB, n int, prop func(*rapid.T)) {
	t.Helper()
	if testing.Short() {
		n *= 5 // of which rapid then takes a fifth
	}
	check(t, strconv.Itoa(n), prop)
}

// check sets the flags that rapid reads before it draws anything: until then no other
// test may change them.
func check(t rapid.TB, n string, prop func(*rapid.T)) {
	t.Helper()
	taking.Lock()
	was := flag.Lookup("rapid.checks").Value.String()
	release := sync.OnceFunc(func() {
		set(t, "rapid.checks", was)
		taking.Unlock()
	})
	defer release()
	if flag.Lookup("rapid.seed").Value.String() == "0" {
		set(t, "rapid.seed", "1")
	}
	if n != "" {
		set(t, "rapid.checks", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		release()
		prop(t)
	})
}

func set(t rapid.TB, name, value string) {
	if err := flag.Set(name, value); err != nil {
		t.Fatal(err)
	}
}
