package workloads_test

import (
	"fmt"

	"github.com/lockcheck/lockcheck/workloads"
)

func ExampleMisuses() {
	for _, w := range workloads.Misuses() {
		fmt.Printf("%s: %s\n", w.Name, w.Does)
	}
	// Output:
	// finally: waits for a short time only, releases by name in any case, as in a finally block around both, and stays away for a while if refused
	// mixed: every second client, from the first on, asks out of turn
	// nested: asks again within its critical section, and releases twice
	// give-up: in half of its sections, on average, waits for a short time only, and stays away for a while if refused
}
