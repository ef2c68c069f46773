package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

func (a *app) checkCommand() *cobra.Command {
	var promised []string
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Judge stored histories",
		Long: `Judges histories: files in lockcheck's JSON Lines format (docs/record.md shows
how to write one), whoever recorded them. Nothing but the file is looked at.
Several files get one line each; one that cannot be read is said, and the others
are judged. "-" is standard input.`,
		Example: `  lockcheck check lockcheck-out/*/history.jsonl
  lockcheck check --promise exclusion,fencing history.jsonl`,
		Args: needArgs("FILE", "lockcheck check lockcheck-out/*/history.jsonl"),
		RunE: func(cmd *cobra.Command, args []string) error {
			pr, err := parsePromise(promised)
			if err != nil {
				return err
			}
			return a.eachFile(cmd, args, func(file string) (verdictDocument, int, error) {
				return a.check(cmd.Context(), file, pr, len(args) == 1)
			})
		},
	}
	promiseFlag(cmd, &promised)
	return cmd
}

func promiseFlag(cmd *cobra.Command, list *[]string) {
	cmd.Flags().StringSliceVar(list, "promise", nil, "the `properties` that must hold (default: all that apply)")
}

// eachFile does something with each file. What is wrong with one does not keep
// it from the others; the worst code decides.
func (a *app) eachFile(cmd *cobra.Command, files []string, do func(file string) (verdictDocument, int, error)) error {
	code := held
	var docs []verdictDocument
	for _, file := range files {
		doc, c, err := do(file)
		if err != nil && errors.Is(err, cmd.Context().Err()) {
			break
		}
		if err != nil {
			c = a.complain(err)
			doc.Schema, doc.File, doc.Error = 1, cmp.Or(doc.File, file), err.Error()
		}
		if doc.Properties == nil {
			doc.Properties = []propertyVerdict{}
		}
		docs = append(docs, doc)
		code = worse(code, c)
	}
	if a.json {
		if err := a.printVerdicts(docs); err != nil {
			return err
		}
	}
	return exit(code)
}

// check judges one file.
func (a *app) check(ctx context.Context, file string, pr promise, alone bool) (doc verdictDocument, code int, err error) {
	h, err := a.readHistory(ctx, file)
	if err != nil {
		return doc, 0, err
	}
	verdicts := checker.JudgeBoth(h)
	if len(pr) == 0 {
		pr = a.recorded(h.Header.Promises, file)
	}
	code = pr.code(outcomes(verdicts))
	doc = newVerdictDocument(verdicts, checker.Reach(h))
	doc.File, doc.Reason = file, pr.unjudged()
	if !alone {
		a.verdictLine(file, verdicts, pr)
		return doc, code, nil
	}
	err = a.story(h, verdicts, pr)
	a.verdictTable(verdicts, pr)
	a.printf("File     %s\n", file)
	return doc, code, err
}

// recorded is the promise that a file names. A later version may know
// properties that this one does not: what it promises remains open.
func (a *app) recorded(names []string, file string) promise {
	var pr promise
	for _, name := range names {
		pr = append(pr, checker.Property(name))
	}
	if why := pr.unjudged(); why != "" {
		a.say("lockcheck: %s: %s\n", file, why)
	}
	return pr
}

// unjudged says what is promised that nobody here can judge, or "".
func (pr promise) unjudged() string {
	var names []string
	for _, p := range pr.unknown() {
		names = append(names, string(p))
	}
	if names == nil {
		return ""
	}
	return "it promises " + strings.Join(names, ", ") + ", which this lockcheck cannot judge"
}

func outcomes(verdicts []checker.Verdict) func(checker.Property) checker.Outcome {
	return func(p checker.Property) checker.Outcome {
		for _, v := range verdicts {
			if v.Property == p {
				return v.Outcome
			}
		}
		return checker.NA
	}
}

// readHistory reads a history that can be judged. Warnings go to stderr. When
// ctx ends it does not wait for what a pipe may still bring.
func (a *app) readHistory(ctx context.Context, file string) (*history.History, error) {
	type decoded struct {
		h   *history.History
		err error
	}
	done := make(chan decoded, 1)
	go func() {
		h, err := a.decode(file)
		done <- decoded{h, err}
	}()
	select {
	case d := <-done:
		return d.h, d.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (a *app) decode(file string) (*history.History, error) {
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fail(usage, "no file %s", file)
		}
		if err != nil {
			return nil, fail(usage, "%w", err)
		}
		defer f.Close()
		in = f
	}
	h, warnings, err := history.Decode(in, file)
	if err != nil {
		return nil, fail(usage, "%w", err)
	}
	for _, w := range warnings {
		a.say("lockcheck: %v\n", w)
	}
	return h, nil
}
