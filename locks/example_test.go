package locks_test

import (
	"errors"
	"fmt"

	"github.com/lockcheck/lockcheck/locks"
)

// An error is uncertain unless the lock says that nothing happened.
func ExampleDefinite() {
	lost := errors.New("the connection was lost")
	refused := locks.Definite(errors.New("the server was not asked"))
	fmt.Println(locks.IsDefinite(lost), locks.IsDefinite(refused))
	// Output: false true
}
