package history_test

import (
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

func ExampleDecode() {
	h, warnings, err := history.Decode(strings.NewReader(`{"lockcheck":1,"lease":10000000000}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":2000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
`), "history.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(warnings), "warnings")
	for _, e := range h.Entries {
		fmt.Println(e.Time, e.Client, e.F, e.Type)
	}
	// Output:
	// 0 warnings
	// 0s c1 acquire invoke
	// 2ms c1 acquire ok
}
