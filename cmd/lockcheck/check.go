package main

import (
	"errors"
	"io/fs"
	"os"

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
Several files get one line each. "-" is standard input.`,
		Example: `  lockcheck check lockcheck-out/*/history.jsonl
  lockcheck check --promise exclusion,fencing history.jsonl`,
		Args: needArgs("FILE", "lockcheck check lockcheck-out/*/history.jsonl"),
		RunE: func(_ *cobra.Command, args []string) error {
			pr, err := parsePromise(promised)
			if err != nil {
				return err
			}
			code := held
			var docs []verdictDocument
			for _, file := range args {
				doc, c, err := a.check(file, pr, len(args) == 1)
				if err != nil {
					return err
				}
				docs = append(docs, doc)
				code = worse(code, c)
			}
			if a.json {
				var doc any = struct {
					Schema int               `json:"schema"`
					Files  []verdictDocument `json:"files"`
				}{1, docs}
				if len(docs) == 1 {
					doc = docs[0]
				}
				if err := a.printJSON(doc); err != nil {
					return err
				}
			}
			return exit(code)
		},
	}
	promiseFlag(cmd, &promised)
	return cmd
}

func promiseFlag(cmd *cobra.Command, list *[]string) {
	cmd.Flags().StringSliceVar(list, "promise", nil, "the `properties` that must hold (default: all that apply)")
}

// needArgs asks for at least one argument.
func needArgs(what, example string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return fail(usage, "%s needs a %s, for example: %s", cmd.Name(), what, example)
		}
		return nil
	}
}

// check judges one file.
func (a *app) check(file string, pr promise, alone bool) (verdictDocument, int, error) {
	h, err := a.readHistory(file)
	if err != nil {
		return verdictDocument{}, usage, err
	}
	verdicts := checker.JudgeBoth(h)
	if len(pr) == 0 {
		if pr, err = parsePromise(h.Header.Promises); err != nil {
			return verdictDocument{}, usage, err
		}
	}
	code := pr.code(outcomes(verdicts))
	doc := newVerdictDocument(verdicts, checker.Reach(h))
	doc.File = file
	if !alone {
		a.verdictLine(file, verdicts, pr)
		return doc, code, nil
	}
	err = a.story(h, verdicts, pr)
	a.verdictTable(verdicts, pr)
	return doc, code, err
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

// readHistory reads a history that can be judged. Warnings go to stderr.
func (a *app) readHistory(file string) (*history.History, error) {
	in := a.stdin
	if file != "-" {
		f, err := os.Open(file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fail(usage, "no file %s", file)
		}
		if err != nil {
			return nil, fail(usage, "%v", err)
		}
		defer f.Close()
		in = f
	}
	h, warnings, err := history.Decode(in, file)
	if err != nil {
		return nil, fail(usage, "%v", err)
	}
	for _, w := range warnings {
		a.say("lockcheck: %v\n", w)
	}
	if err := history.Check(h); err != nil {
		return nil, fail(usage, "%s: %v", file, err)
	}
	return h, nil
}
