package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/history/formats"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/judging"
)

func (a *app) checkCommand() *cobra.Command {
	f := checkFlags{memory: 1 << 30}
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Judge histories, whoever recorded them",
		Long: `Judges histories: the requests of clients, and the answers of a lock. It reads
only the file, which may be gzipped:

  JSON Lines   an object a line; docs/record.md shows how to write it
  JSON         one list of such objects
  EDN          what Jepsen stores (history.edn): a list of maps, or a map a line

Of a directory it judges all histories below it: files in .jsonl, .edn or .json,
also with .gz. It leaves out the other files of a run of lockcheck or Jepsen.
Any other file that is no history is an error, unless a file called history is
beside it (-v names such files). "-" is standard input. It judges by:

  a model      a lock as it should be, in a few rules. The history is valid if
               its operations can have happened in an order that follows them.
               --model names one ("lockcheck list models"). A history without
               lockcheck's first line is judged by owner-mutex, if no model is
               named: one process holds at a time, and only it can release.
  properties   the rules for lockcheck's own histories, which also record the
               faults of clients and servers. --promise names those that must
               hold ("lockcheck list properties").

A violation names the lines that prove it. A release that failed is taken to
have had no effect, unless --failed-release says otherwise.

Exit codes   0 valid        2 proves nothing: unknown, or nothing to judge
             1 violated     4 wrong usage, or a file that is no history
Of several files the worst decides: 4 before 1 before 2.`,
		Example: `  lockcheck check store/etcd-lock/latest/history.edn
  lockcheck check --model semaphore=2 history.edn.gz
  lockcheck check --promise exclusion,fencing lockcheck-out
  lockcheck check --html page.html history.edn
  zcat history.edn.gz | lockcheck check --to jsonl - > history.jsonl`,
		Args: needArgs("FILE", "lockcheck check history.edn"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.request(cmd.Flags().Changed)
			if err != nil {
				return err
			}
			return a.judge().Files(cmd.Context(), args, r)
		},
	}
	f.define(cmd)
	return cmd
}

// checkFlags are the flags of check.
type checkFlags struct {
	judging.Request

	promised                      []string
	model, failedRelease, okFalse string
	memory                        ask.Size
}

func (f *checkFlags) define(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringVar(&f.model, "model", "", "hold it against this model alone: a `NAME`, or NAME=N")
	fl.BoolVar(&f.Request.Options.StrictTry, "strict-try", false, "with a model: a try that was refused was refused because of a holder")
	fl.StringVar(&f.failedRelease, "failed-release", judging.NoEffect, "with a model: what a release that failed did, no-effect or released")
	fl.StringVar(&f.Request.Reading.LockFrom, "lock-from", "", "the `FIELD` of an operation that names its lock (default: see docs/record.md)")
	fl.BoolVar(&f.Request.Reading.OneLock, "one-lock", false, "all operations are about one lock, and no value names one")
	fl.StringVar(&f.okFalse, "ok-false", "", "what an operation did that is ok with false: `refused` or granted")
	durationFlag(fl, &f.Request.Options.Timeout, "timeout", 30*time.Second, "how long to judge a file: what is open then is unknown; 0: for ever")
	fl.Var(&f.memory, "memory", "with a model: the memory to use in that search, a `SIZE` like 500MB or 2GiB; 0: any")
	fl.StringVar(&f.Request.HTML, "html", "", "write a page with the story, the picture and the operations to a `FILE`; of a model Porcupine's picture")
	fl.StringVar(&f.Request.To, "to", "", "judge nothing, and print the history in this `FORMAT`: edn or jsonl")
	promiseFlag(cmd, &f.promised)
}

// request returns what the flags ask for. changed reports whether a flag was set.
func (f *checkFlags) request(changed func(flag string) bool) (c judging.Request, err error) {
	c = f.Request
	if c.Promise, err = ask.Promise(f.promised); err != nil {
		return c, err
	}
	if changed("model") {
		if c.Model, err = judging.ParseModel(f.model); err != nil {
			return c, err
		}
	}
	if err := ask.Choice("failed-release", f.failedRelease, judging.NoEffect, judging.Released); err != nil {
		return c, err
	}
	c.Options.Released, c.Options.Memory = f.failedRelease == judging.Released, int64(f.memory)
	if changed("ok-false") {
		if err := ask.Choice("ok-false", f.okFalse, judging.OKRefused, judging.OKGranted); err != nil {
			return c, err
		}
		c.Reading.OKFalse = map[string]formats.OKFalse{judging.OKRefused: formats.OKFalseRefused, judging.OKGranted: formats.OKFalseGranted}[f.okFalse]
	}
	c.Reading.LockFrom = strings.TrimPrefix(c.Reading.LockFrom, ":")
	timeout := ask.Duration(c.Options.Timeout)
	c.Limits = fmt.Sprintf("--timeout and --memory set how far it goes; they were %s and %s.", &timeout, &f.memory)
	c.Chosen = changed("strict-try") || changed("failed-release")
	return c, f.fit(changed, &c)
}

// fit returns an error for flags that contradict each other.
func (f *checkFlags) fit(changed func(flag string) bool, c *judging.Request) error {
	switch {
	case c.Options.Timeout < 0:
		return exit.Errorf(exit.Usage, "--timeout %v: it has to be 0 or more", c.Options.Timeout)
	case changed("lock-from") && c.Reading.LockFrom == "":
		return exit.Errorf(exit.Usage, "--lock-from needs the name of a field")
	case changed("lock-from") && changed("one-lock"):
		return exit.Errorf(exit.Usage, "--lock-from says where the lock is named, --one-lock that there is but one: leave out one of them")
	case changed("html") && c.HTML == "":
		return exit.Errorf(exit.Usage, "--html needs the name of a file")
	case changed("model") && changed("promise"):
		return exit.Errorf(exit.Usage, "--model judges by one model, --promise by properties: leave out one of them")
	}
	if changed("promise") {
		for _, flag := range []string{"strict-try", "failed-release"} {
			if changed(flag) {
				return exit.Errorf(exit.Usage, "--%s is about models, --promise about properties: leave out one of them", flag)
			}
		}
	}
	if !changed("to") {
		return nil
	}
	for _, flag := range []string{"model", "promise", "strict-try", "failed-release", "html", "json"} {
		if changed(flag) {
			return exit.Errorf(exit.Usage, "--to prints the history and judges nothing: leave out --%s", flag)
		}
	}
	return ask.Choice("to", c.To, "edn", "jsonl")
}

func promiseFlag(cmd *cobra.Command, list *[]string) {
	cmd.Flags().StringSliceVar(list, "promise", nil, "the `properties` that must hold (default: all that apply; of run: what a lock of its kind can keep)")
}

// judge returns what judges files.
func (a *app) judge() *judging.Judge { return &judging.Judge{Terminal: a.Terminal, Stdin: a.stdin} }
