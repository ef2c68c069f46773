package models_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/history"
)

func Example() {
	h, _, err := history.Decode(strings.NewReader(`{"lockcheck":1}
{"time":0,"client":"c1","process":1,"type":"invoke","f":"acquire"}
{"time":1,"client":"c1","process":1,"type":"ok","f":"acquire"}
{"time":2,"client":"c2","process":2,"type":"invoke","f":"acquire"}
{"time":3,"client":"c2","process":2,"type":"ok","f":"acquire"}
`), "history.jsonl")
	if err != nil {
		fmt.Println(err)
		return
	}
	m, _ := models.Parse("owner-mutex")
	j := models.New(m, models.Options{})
	for i := range h.Entries {
		j.Add(&h.Entries[i], i+2)
	}
	v := j.Verdict(context.Background())
	fmt.Println(v.Outcome, v.Witness.Lines)
	fmt.Println(v.Witness.Sentence)
	// Output:
	// violated [3 5]
	// c1 held the lock from line 3 on, and c2 was granted it in line 5.
}
