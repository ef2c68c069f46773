package report_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/report"
)

func ExampleStory() {
	h, _, err := history.Decode(strings.NewReader(`{"lockcheck":1}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1000000000,"client":"c1","process":1,"type":"ok","f":"acquire","grant":1}
{"time":3000000000,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":4000000000,"client":"c2","process":2,"type":"ok","f":"acquire","grant":2}
`), "history.jsonl")
	if err == nil {
		err = report.Story(os.Stdout, h, checker.Judge(h), report.Options{})
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// ✗ VIOLATED exclusion: c1 and c2 both held the lock at 4.00 s
	//
	//   At 1.00 s c1 was granted the lock. At 4.00 s c2 was granted the lock: from
	//   then on both held it.
	//
	//                 1 s       1.50 s    2 s        2.50 s    3 s       3.50 s    4 s
	//                ─┼─────────┼─────────┼──────────┼─────────┼─────────┼─────────┼──
	//   c1           ·██████████████████████████████████████████████████████████████
	//                 1
	//   c2                                                     ····················█
	//                                                                              2
	//   both hold                                                                  ┼
	//
	//   · waits   █ holds
	//
	//   1  1.000 s  c1 acquires the lock
	//   2  4.000 s  c2 acquires the lock: both hold it
}
