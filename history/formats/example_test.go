package formats_test

import (
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/history/formats"
)

func ExampleDecode() {
	h, lines, _, err := formats.Decode(strings.NewReader(`
{:process 0, :type :invoke, :f :acquire, :time 0}
{:process 0, :type :ok, :f :acquire, :time 5000000}
`), "history.edn")
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, e := range h.Entries {
		fmt.Printf("line %d: %v %s %s\n", lines[i], e.Time, e.F, e.Type)
	}
	// Output:
	// line 2: 0s acquire invoke
	// line 3: 5ms acquire ok
}
