package lockcheck

import (
	"flag"
	"slices"
	"testing"
)

// Each client runs one test, with the user's flags and none of go test's.
func TestCommandOfClients(t *testing.T) {
	mine := flag.String("a-flag-of-the-user", "", "")
	flag.Set("a-flag-of-the-user", "x y")
	flag.Set("lockcheck.on", "")
	got := command("program", "TestA/b (c)")
	want := []string{"program", `-test.run=^TestA$/^b \(c\)$`, "-test.count=1", "-a-flag-of-the-user=" + *mine}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A second call of Test in a test has another name. Numbers begin anew with the test.
func TestCallsHaveNames(t *testing.T) {
	name := ""
	t.Run("two", func(t *testing.T) {
		name = t.Name()
		for _, want := range []string{name + "#1", name + "#2"} {
			if got := callOf(t); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
	})
	if n := calls.of[name]; n != 0 {
		t.Errorf("%d calls are counted after the test", n)
	}
}
