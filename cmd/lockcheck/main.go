// Command lockcheck finds out whether a distributed lock keeps its promise
// when things go wrong.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	// A run in virtual time leaves about 100 kB behind and keeps nothing:
	// collecting less often is a tenth of the time, for some megabytes.
	debug.SetGCPercent(400)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute is the whole command: arguments in, exit code out.
func execute(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if ctx.Err() != nil {
		fmt.Fprintln(stderr, "lockcheck: interrupted; what there was until then is kept")
		return interrupted
	}
	if err == nil {
		return held
	}
	// What cobra itself objects to is a matter of usage.
	exit := &exitError{code: usage, err: err}
	errors.As(err, &exit)
	if exit.err != nil {
		fmt.Fprintf(stderr, "lockcheck: %v\n", exit.err)
	}
	return exit.code
}

// app is what the subcommands share: where output goes, and the flags that
// every one of them knows.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	out     string
	json    bool
	verbose bool
	quiet   bool
}

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockcheck",
		Short: "Find out whether a distributed lock keeps its promise when things go wrong",
		Long: `lockcheck runs the clients of a lock while it pauses them, sets clocks, restarts
servers and cuts the network. It records what every client saw, judges that
history, and tells the story of how the lock broke.

Begin with:  lockcheck case                             every documented failure
             lockcheck case redis-get-del-race          one of them
             lockcheck run redis-set-lua --fault pause  look for violations

Exit codes   0 held, or as expected        3 the place could not be set up
             1 violated, not as expected   4 wrong usage, or no such file
             2 proves nothing either way   5 a bug of lockcheck
                                         130 interrupted`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownName("command", args[0], commandNames(cmd))
			}
			return cmd.Help()
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageTemplate(narrow.Replace(root.UsageTemplate()))
	flags := root.PersistentFlags()
	flags.StringVar(&a.out, "out", "lockcheck-out", "`directory` for histories, schedules, verdicts and stories")
	flags.BoolVar(&a.json, "json", false, "print one JSON document instead of text")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "say more")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print verdicts only, no stories")
	root.AddCommand(a.caseCommand(), a.runCommand(), a.checkCommand(), a.replayCommand(),
		a.listCommand(), a.cleanCommand(), a.versionCommand(), a.workerCommand())
	root.SetHelpCommand(&cobra.Command{Hidden: true, Use: "no-help"})
	return root
}

// narrow makes the lists of flags in a usage text fit 80 columns.
var narrow = strings.NewReplacer(".FlagUsages", ".FlagUsagesWrapped 80")

func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	return names
}
