//go:build !linux && !darwin

package terminal

import (
	"errors"
	"os"
)

// readKeys returns errors.ErrUnsupported: keys count when their line ends.
func readKeys(*os.File) (restore func(), err error) { return nil, errors.ErrUnsupported }
