// Package openfiles ends the process, with a message and exit code 4, if it may
// open too few files. Without that Go's runtime ends it with a stack and exit code
// 2, which means that a run proves nothing.
//
// Libraries open files before main is called. This package imports no more than
// syscall, so that it is initialised before they are.
package openfiles

// needed is how many files a command in sim has open at most, and some more. Docker
// takes more, and says so where it cannot have them.
const needed = 20
