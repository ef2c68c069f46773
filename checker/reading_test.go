package checker_test

import (
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// The holds of a history in which no line shows that c1 lost the lock: it was killed
// in a pause.
func ExampleReadTimeline() {
	h, _, err := history.Decode(strings.NewReader(`{"lockcheck":1}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
{"time":2000000000,"process":"nemesis","type":"info","f":"pause","id":1,"on":["c1"]}
{"time":3000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2}
{"time":5000000000,"process":"nemesis","type":"info","f":"kill","id":2,"on":["c1"]}
`), "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	t := checker.ReadTimeline(h)
	for _, hold := range t.Holds {
		until := "the end"
		if hold.End >= 0 {
			until = h.Entries[hold.End].Time.String()
		}
		fmt.Printf("%s held from %v to %s\n", t.Operations[hold.Acquire].Client, h.Entries[hold.Begin].Time, until)
	}
	// Output:
	// c1 held from 1s to 2s
	// c2 held from 4s to the end
}
