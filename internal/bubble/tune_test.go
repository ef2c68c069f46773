package bubble_test

import (
	"runtime"
	"runtime/debug"
	"slices"
	"testing"
	"unsafe"

	"github.com/lockcheck/lockcheck/internal/bubble"
)

// After Tune goroutines start with the stack that a request takes. The first ones do not:
// the runtime makes large stacks only for goroutines that take the place of ended ones.
func TestTune(t *testing.T) {
	before := debug.SetGCPercent(100)
	defer debug.SetGCPercent(before)
	restore := bubble.Tune()
	runtime.GC()
	if !slices.Contains(movedStacks(1000), false) {
		t.Error("all goroutines that use 5 KiB have copied their stacks")
	}
	restore()
	if p := debug.SetGCPercent(100); p != 100 {
		t.Errorf("afterwards garbage is collected at %d %%, want 100 as before", p)
	}
}

// movedStacks starts n goroutines that use 5 KiB of stack, one after the other. It returns
// for each whether the runtime has moved its stack.
func movedStacks(n int) (moved []bool) {
	result := make(chan bool)
	for range n {
		go func() {
			var here byte
			at := uintptr(unsafe.Pointer(&here))
			useStack()
			result <- at != uintptr(unsafe.Pointer(&here))
		}()
		moved = append(moved, <-result)
	}
	return moved
}

//go:noinline
func useStack() {
	var room [5 << 10]byte
	runtime.KeepAlive(&room)
}
