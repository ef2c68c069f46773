package faults_test

import (
	"fmt"

	"github.com/lockcheck/lockcheck/faults"
)

func ExampleFind() {
	f, _ := faults.Find("kill")
	fmt.Println(f.Does, f.Ends)
	// Output: a client dies; its kernel closes its connections true
}
