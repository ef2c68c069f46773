package main

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockcheck/lockcheck/internal/names"
)

// misused says what is wrong with a flag as it was typed among the arguments, and
// what may have been meant.
func misused(cmd *cobra.Command, args []string, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, args, unknown)
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return fail(usage, "--%s %q: %s", wrong.GetFlag().Name, wrong.GetValue(), wrongValue(wrong))
	}
	return fail(usage, "%w", err)
}

// unknownFlag knows that -name stands for --name elsewhere, and that some say
// --name for a command.
func unknownFlag(cmd *cobra.Command, args []string, err *pflag.NotExistError) error {
	typed := "--" + err.GetSpecifiedName()
	if short := err.GetSpecifiedShortnames(); short != "" {
		// Of -help the h is a flag, and only elp is not.
		i := slices.IndexFunc(args, func(arg string) bool {
			return strings.HasSuffix(arg, short) && strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--")
		})
		if typed = "-" + short; i >= 0 {
			typed = args[i]
		}
	}
	name := strings.TrimLeft(typed, "-")
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
	switch near := names.Nearest(name, known); {
	case len(near) > 0 && len(name) > 1:
		return fail(usage, "unknown flag: %s; did you mean --%s?", typed, strings.Join(near, " or --"))
	case slices.Contains(commandNames(cmd), name):
		return fail(usage, "unknown flag: %s; did you mean the command: %s %s?", typed, cmd.CommandPath(), name)
	}
	return fail(usage, "unknown flag: %s; all: %s --help", typed, cmd.CommandPath())
}

// wrongValue says what a value has to be.
func wrongValue(err *pflag.InvalidValueError) string {
	number, ok := errors.AsType[*strconv.NumError](err)
	kind := map[string]string{"int": "it has to be a whole number", "uint64": "it has to be a whole number from 0", "bool": "it has to be true or false"}[err.GetFlag().Value.Type()]
	switch {
	case ok && number.Err == strconv.ErrRange:
		return kind + ", and this is too large"
	case ok && kind != "":
		return kind
	}
	return cmp.Or(errors.Unwrap(err), error(err)).Error()
}

// number is a flag that goes from 1 to most.
type number struct {
	flag        string
	value, most int
}

// numbers holds flags that are given to what they can be.
func numbers(given func(flag string) bool, list []number) error {
	for _, n := range list {
		switch {
		case !given(n.flag):
		case n.value < 1:
			return fail(usage, "--%s %d: it has to be at least 1", n.flag, n.value)
		case n.value > n.most:
			return fail(usage, "--%s %d: it can be %d at most", n.flag, n.value, n.most)
		}
	}
	return nil
}
