// Package alltests says how much the tests do in this process.
package alltests

import "os"

// Wanted reports whether LOCKCHECK_TESTS is "all". Then tests have their large budgets,
// all tests with real servers run, and a test fails if something that it needs is
// missing. By default go test takes minutes: budgets are small, and few tests use real
// servers.
func Wanted() bool { return os.Getenv("LOCKCHECK_TESTS") == "all" }

// Budget returns the large budget if all tests are wanted, else the small one.
func Budget[T any](large, small T) T {
	if Wanted() {
		return large
	}
	return small
}
