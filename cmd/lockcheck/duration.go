package main

import (
	"errors"
	"strings"
	"time"

	"github.com/spf13/pflag"
)

// duration is the value of a flag: a length of time.
type duration time.Duration

// durationFlag adds a flag for a length of time.
func durationFlag(f *pflag.FlagSet, to *time.Duration, name string, usual time.Duration, usage string) {
	*to = usual
	f.Var((*duration)(to), name, usage)
}

// Set reads a duration such as "90s" or "1m30s".
func (d *duration) Set(text string) error {
	parsed, err := time.ParseDuration(text)
	if err != nil {
		return errors.New("want a duration, as 2s or 1m")
	}
	*d = duration(parsed)
	return nil
}

// String returns d without the units that are zero.
func (d *duration) String() string {
	if *d == 0 {
		return "0"
	}
	text := time.Duration(*d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Type returns the name that cobra shows where the usage text names none.
func (d *duration) Type() string { return "duration" }
