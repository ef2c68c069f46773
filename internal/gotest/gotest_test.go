package gotest

import (
	"strings"
	"testing"
)

// Without the import a test says which line is missing.
func TestRegistered(t *testing.T) {
	if _, err := Registered(); err == nil || !strings.HasSuffix(err.Error(), "\n\n\t_ \"github.com/lockcheck/lockcheck/docker\"") {
		t.Errorf("nothing is registered: %v", err)
	}
	Register(Real{})
	if r, err := Registered(); r == nil || err != nil {
		t.Errorf("%v, %v", r, err)
	}
}
