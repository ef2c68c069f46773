// Command lockcheck tests whether a distributed lock keeps its promise when things go
// wrong.
package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/batch"
	"github.com/lockcheck/lockcheck/internal/environments"
	"github.com/lockcheck/lockcheck/internal/exit"
	_ "github.com/lockcheck/lockcheck/internal/openfiles" // ends the process if too few files can be open
	"github.com/lockcheck/lockcheck/internal/outdir"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/summary"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

func main() {
	// A run in virtual time leaves about 100 kB of garbage and keeps nothing.
	// Collecting less often saves a tenth of the time and costs a few megabytes.
	debug.SetGCPercent(400)
	debug.SetMemoryLimit(1 << 30) // above this the collector runs as often as it must
	ctx, stop := untilSignal()
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	a.silence, a.exit = silence, os.Exit
	code := a.execute(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// app is the state that all subcommands share: the outputs and the common flags.
type app struct {
	*summary.Printer

	stdin io.Reader
	raw   io.Writer // stdout, for the worker protocol
	// open makes the environment that the flags name: openEnvironment, or a test's function.
	open func(context.Context, ask.Environment) (*batch.Runner, error)

	baseline  results.KnownViolations
	junit     string // file to write test results to
	github    bool   // runs in a GitHub job
	annotated error  // the error that GitHub has been shown

	silence time.Duration                 // how long the end may take without a message; 0: no limit
	exit    func(code int)                // ends the process if an interrupted command hangs; nil: never
	servers atomic.Bool                   // real servers may have to be cleaned up
	pool    environments.Pool             // of their containers, for all runs of the command
	running atomic.Pointer[cobra.Command] // set once its flags are read
}

func newApp(stdin io.Reader, stdout, stderr io.Writer) *app {
	a := &app{Printer: &summary.Printer{Terminal: terminal.New(stdout, stderr), Out: new(outdir.Dir)}, stdin: stdin, raw: stdout, github: os.Getenv("GITHUB_ACTIONS") == "true"}
	a.open = a.openEnvironment
	return a
}

// execute runs the whole command: arguments in, exit code out.
func (a *app) execute(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	// Errors of cobra itself are wrong usage.
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return misused(cmd, args, err) })
	root.SetIn(a.stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	cmd := root
	ended := a.sayIfSlow(ctx)
	a.endIfStuck(ctx)
	err := exit.Guard(func() (err error) {
		defer a.closePool(ctx)
		cmd, err = root.ExecuteContextC(ctx)
		return err
	})
	ended()
	a.Out.End()
	lost := a.Stdout.Lost() // lost output gets a message even after other errors
	if ctx.Err() == nil || cmd.Annotations[untilInterrupt] != "" {
		a.annotate(cmp.Or(err, lost))
		return exit.Worse(a.Complain(err), a.Complain(lost))
	}
	a.Complain(lost)
	if !errors.Is(err, context.Canceled) {
		a.Complain(err)
	}
	words := "lockcheck: interrupted"
	if cmd.Annotations[keepsFiles] != "" {
		words += "; what there was until then is kept"
	}
	a.Say("%s\n", words)
	return exit.Interrupted
}

// closePool removes the containers that no run uses any more, also after an interrupt.
func (a *app) closePool(ctx context.Context) {
	if err := a.pool.Close(context.WithoutCancel(ctx)); err != nil {
		a.Say("lockcheck: lockcheck clean removes what is left: %v\n", err)
	}
}

// Annotations of commands.
const (
	keepsFiles     = "keeps files"        // below --out
	untilInterrupt = "until an interrupt" // which is how they end
)

func (a *app) root() *cobra.Command {
	var version bool
	root := &cobra.Command{
		Use:   "lockcheck",
		Short: "Find out whether a distributed lock keeps its promise when things go wrong",
		Long: `Begin with:  lockcheck case                             documented failures
             lockcheck case redis-get-del-race          one of them, explained
             lockcheck run redis-set-lua --fault pause  search for violations
             lockcheck init                             test your own lock
             docs/go-test.md                            the same, in Go

lockcheck runs the clients of a lock while it pauses them, sets clocks, restarts
servers and cuts the network. It records what every client saw, judges that
history, and explains how the lock broke.

On docker    LOCKCHECK_MYSQL_IMAGE names an image of MySQL or MariaDB, which has
             to be on this machine, instead of Debian's MariaDB.
             LOCKCHECK_BASE_IMAGE names another Debian 12 to build on.

Exit codes   0 held, or as expected        3 the environment is not available
             1 violated, or unexpected     4 wrong usage, or no such file
             2 proves nothing              5 a bug of lockcheck
                                         130 interrupted`,
		SilenceErrors:    true,
		SilenceUsage:     true,
		Args:             cobra.ArbitraryArgs,
		PersistentPreRun: func(cmd *cobra.Command, _ []string) { a.running.Store(cmd) },
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0:
				return ask.Unknown("command", args[0], commandNames(cmd))
			case version:
				return a.printVersion()
			}
			return cmd.Help()
		},
	}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetUsageTemplate(narrow.Replace(root.UsageTemplate()))
	root.Flags().BoolVar(&version, "version", false, "print the version, as lockcheck version does")
	flags := root.PersistentFlags()
	flags.StringVar(&a.Out.Path, "out", "lockcheck-out", "`directory` for histories, schedules, verdicts and stories")
	flags.BoolVar(&a.JSON, "json", false, "print one JSON document instead of text")
	flags.BoolVarP(&a.Verbose, "verbose", "v", false, "say more")
	flags.BoolVarP(&a.Quiet, "quiet", "q", false, "print verdicts only, no stories")
	for _, g := range a.commandGroups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title + ":"})
		for _, c := range g.commands {
			c.GroupID = g.title
			root.AddCommand(c)
		}
	}
	help := helpCommand()
	help.GroupID = root.Groups()[len(root.Groups())-1].ID
	root.SetHelpCommand(help)
	return root
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Explain a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			about := cmd.Root()
			for _, name := range args {
				i := slices.IndexFunc(about.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
				if i < 0 {
					return ask.Unknown("command", name, commandNames(cmd.Root()))
				}
				about = about.Commands()[i]
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// noArgs rejects arguments.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Errorf(exit.Usage, "%s takes no arguments: leave out %s", cmd.Name(), strings.Join(args, " "))
	}
	return nil
}

// needArgs requires at least one argument.
func needArgs(what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return exit.Errorf(exit.Usage, "%s needs a %s, for example: %s", cmd.Name(), what, example)
		}
		return nil
	}
}

// narrow wraps the flags in a usage text at 80 columns.
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

// commandGroup is a group of commands with one purpose.
type commandGroup struct {
	title    string
	commands []*cobra.Command
}

// commandGroups returns all commands, grouped as the help lists them.
func (a *app) commandGroups() []commandGroup {
	return []commandGroup{
		{"Learn how locks break", []*cobra.Command{a.caseCommand(), a.matrixCommand(), a.benchCommand(), a.listCommand()}},
		{"Look for violations", []*cobra.Command{a.runCommand(), a.replayCommand(), a.shrinkCommand(), a.checkCommand(), a.serveCommand()}},
		{"Keep a lock safe in CI", []*cobra.Command{a.initCommand(), a.suiteCommand(), a.mergeCommand()}},
		{"The rest", []*cobra.Command{a.cleanCommand(), a.versionCommand(), a.workerCommand()}},
	}
}
