package main

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
)

// misused explains what is wrong with a flag among the arguments, and suggests the flag
// that may have been meant.
func misused(cmd *cobra.Command, args []string, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		return unknownFlag(cmd, args, unknown)
	}
	if wrong, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		return exit.Errorf(exit.Usage, "--%s %q: %s", wrong.GetFlag().Name, wrong.GetValue(), wrongValue(wrong))
	}
	return exit.Errorf(exit.Usage, "%w", err)
}

// unknownFlag returns the error for an unknown flag. It also suggests --name for -name,
// and the command for a flag that has its name.
func unknownFlag(cmd *cobra.Command, args []string, err *pflag.NotExistError) error {
	typed := "--" + err.GetSpecifiedName()
	if short := err.GetSpecifiedShortnames(); short != "" {
		// In -help, cobra reads -h as a flag and complains about "elp" only.
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
		return exit.Errorf(exit.Usage, "unknown flag: %s; did you mean --%s?", typed, strings.Join(near, " or --"))
	case slices.Contains(commandNames(cmd), name):
		return exit.Errorf(exit.Usage, "unknown flag: %s; did you mean the command: %s %s?", typed, cmd.CommandPath(), name)
	}
	return exit.Errorf(exit.Usage, "unknown flag: %s; all: %s --help", typed, cmd.CommandPath())
}

// wrongValue describes the values that a flag accepts.
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
