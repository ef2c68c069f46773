package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/checker/models"
	"github.com/lockcheck/lockcheck/history"
	"github.com/lockcheck/lockcheck/history/formats"
	"github.com/lockcheck/lockcheck/internal/ask"
	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/names"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/report"
)

// checking holds how histories are judged, and what is written about them.
type checking struct {
	model   *models.Model // nil: the promise of the file
	promise checker.Promise
	options models.Options
	reading formats.Reading
	html    string // file for the picture; "": none
	alone   bool   // it is the only file, and is explained in full
}

// The possible readings of a release that failed.
const (
	noEffect = "no-effect"
	released = "released"
)

// The possible readings of an ok with the value false.
const (
	okRefused = "refused"
	okGranted = "granted"
)

func (a *app) checkCommand() *cobra.Command {
	var c checking
	var promised []string
	var model, failedRelease, okFalse, to string
	memory := byteSize(1 << 30)
	cmd := &cobra.Command{
		Use:   "check FILE…",
		Short: "Judge histories, whoever recorded them",
		Long: `Judges histories: what clients asked of a lock, and what they were told. Nothing
but the file is looked at. It may be gzipped, and is

  JSON Lines   an object a line; docs/record.md shows how to write it
  JSON         one list of such objects
  EDN          what Jepsen stores (history.edn): a list of maps, or a map a line

Of a directory all histories below it are judged: files that end in .jsonl, .edn
or .json, or in that and .gz, but for what else a run of lockcheck or of Jepsen
leaves. A file that is no history is an error; beside one called history it is
passed over, and counted (-v names it). "-" is standard input. What a history is
held against:

  a model      a lock as it should be, in a few rules. The history is valid if
               its operations can have happened in an order that follows them.
               --model names one ("lockcheck list models"). Without it a history
               without lockcheck's first line is held against owner-mutex: one
               process holds at a time, and nobody else can release.
  properties   what lockcheck's own histories are held against, as they also say
               what befell clients and servers. --promise names those that must
               hold ("lockcheck list properties").

A violation names the lines that prove it. A release that failed is taken to
have had no effect, unless --failed-release says otherwise.

Exit codes   0 valid        2 proves nothing: unknown, or nothing to judge
             1 violated     4 wrong usage, or a file that is no history
Of several files the worst decides: 4 before 1 before 2.`,
		Example: `  lockcheck check store/etcd-lock/latest/history.edn
  lockcheck check --model semaphore=2 history.edn.gz
  lockcheck check --promise exclusion,fencing lockcheck-out
  lockcheck check --html picture.html history.edn
  zcat history.edn.gz | lockcheck check --to jsonl - > history.jsonl`,
		Args: needArgs("FILE", "lockcheck check history.edn"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			changed := cmd.Flags().Changed
			if c.promise, err = ask.Promise(promised); err != nil {
				return err
			}
			if changed("model") {
				if c.model, err = parseModel(model); err != nil {
					return err
				}
			}
			if err := ask.Choice("failed-release", failedRelease, noEffect, released); err != nil {
				return err
			}
			c.options.Released, c.options.Memory = failedRelease == released, int64(memory)
			if changed("ok-false") {
				if err := ask.Choice("ok-false", okFalse, okRefused, okGranted); err != nil {
					return err
				}
				c.reading.OKFalse = map[string]formats.OKFalse{okRefused: formats.OKFalseRefused, okGranted: formats.OKFalseGranted}[okFalse]
			}
			c.reading.LockFrom = strings.TrimPrefix(c.reading.LockFrom, ":")
			if err := checkFits(changed, c, to); err != nil {
				return err
			}
			files, passed, err := histories(args)
			if err != nil {
				return err
			}
			c.alone = len(files) == 1
			switch {
			case changed("to") && !c.alone:
				return exit.Errorf(exit.Usage, "--to takes one file, and there are %d", len(files))
			case changed("to"):
				return a.convert(cmd.Context(), files[0], to, c.reading)
			case changed("html") && !c.alone:
				return exit.Errorf(exit.Usage, "--html takes one file, and there are %d", len(files))
			case changed("html"):
				if err := rundir.CanWrite(c.html, rundir.Picture); err != nil {
					return exit.Errorf(exit.Usage, "cannot write --html %s: %w", c.html, err)
				}
			}
			readings := changed("strict-try") || changed("failed-release")
			// A judge keeps the history that it has read: here memory is worth more
			// than time.
			debug.SetGCPercent(100)
			return a.checkAll(cmd, files, passed, func(file string) (verdictDocument, int, error) {
				return a.check(cmd.Context(), file, c, readings)
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&model, "model", "", "hold it against this model alone: a `NAME`, or NAME=N")
	f.BoolVar(&c.options.StrictTry, "strict-try", false, "with a model: a try that was refused was refused because of a holder")
	f.StringVar(&failedRelease, "failed-release", noEffect, "with a model: what a release that failed did, no-effect or released")
	f.StringVar(&c.reading.LockFrom, "lock-from", "", "the `FIELD` of an operation that names its lock (default: see docs/record.md)")
	f.BoolVar(&c.reading.OneLock, "one-lock", false, "all operations are about one lock, and no value names one")
	f.StringVar(&okFalse, "ok-false", "", "what an operation did that is ok with false: `refused` or granted")
	durationFlag(f, &c.options.Timeout, "timeout", 30*time.Second, "how long to judge a file: what is open then is unknown; 0: for ever")
	f.Var(&memory, "memory", "with a model: the memory to use in that search, a `SIZE` like 500MB or 2GiB; 0: any")
	f.StringVar(&c.html, "html", "", "write Porcupine's picture of the operations around a violation to a `FILE`")
	f.StringVar(&to, "to", "", "judge nothing, and print the history in this `FORMAT`: edn or jsonl")
	promiseFlag(cmd, &promised)
	return cmd
}

func promiseFlag(cmd *cobra.Command, list *[]string) {
	cmd.Flags().StringSliceVar(list, "promise", nil, "the `properties` that must hold (default: all that apply)")
}

// parseModel returns the model with a name, and with its number if it has one.
func parseModel(text string) (*models.Model, error) {
	name, _, _ := strings.Cut(text, "=")
	var known []string
	for _, m := range models.All() {
		known = append(known, m.Name)
		if m.Name != name {
			continue
		}
		m, err := models.Parse(text)
		if err != nil {
			return nil, exit.Errorf(exit.Usage, "--model %s: %w", text, err)
		}
		return &m, nil
	}
	return nil, ask.Unknown("model", name, known)
}

// checkFits returns an error for flags that contradict each other.
func checkFits(changed func(flag string) bool, c checking, to string) error {
	switch {
	case c.options.Timeout < 0:
		return exit.Errorf(exit.Usage, "--timeout %v: it has to be 0 or more", c.options.Timeout)
	case changed("lock-from") && c.reading.LockFrom == "":
		return exit.Errorf(exit.Usage, "--lock-from needs the name of a field")
	case changed("lock-from") && changed("one-lock"):
		return exit.Errorf(exit.Usage, "--lock-from says where the lock is named, --one-lock that there is but one: leave out one of them")
	case changed("html") && c.html == "":
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
	return ask.Choice("to", to, "edn", "jsonl")
}

// checkAll judges files. For several files it ends with a count by verdict. It always
// prints how many files were passed over.
func (a *app) checkAll(cmd *cobra.Command, files, passed []string, check func(file string) (verdictDocument, int, error)) error {
	count := map[int]int{}
	done, limits := 0, ""
	err := a.eachFile(cmd, files, passed, func(file string) (doc verdictDocument, code int, err error) {
		doc, code, err = check(file)
		if cmd.Context().Err() != nil {
			return doc, code, err
		}
		done++
		limits = cmp.Or(limits, doc.limits)
		if err != nil {
			code = exit.Usage
		}
		count[code]++
		return doc, code, err
	})
	defer a.passedOver(passed)
	if len(files) == 1 {
		return err
	}
	var parts []string
	for _, c := range []struct {
		code int
		word string
	}{{exit.Violated, "violated"}, {exit.Unproven, "unknown"}, {exit.Held, "valid"}, {exit.Usage, "not read"}} {
		if count[c.code] > 0 {
			parts = append(parts, names.Thousands(count[c.code])+" "+c.word)
		}
	}
	head := names.Count(len(files), "file")
	if done < len(files) {
		head = fmt.Sprintf("%s of %s", names.Thousands(done), head)
	}
	a.Printf("%s\n", strings.TrimSuffix(head+": "+strings.Join(parts, ", "), ": "))
	if limits != "" && !a.Quiet {
		a.Paragraph(0, limits)
	}
	return err
}

// eachFile calls do for each file. An error with one file does not stop the others; the
// worst exit code counts. passed are the files that were passed over.
func (a *app) eachFile(cmd *cobra.Command, files, passed []string, do func(file string) (verdictDocument, int, error)) error {
	code := exit.Held
	several := verdictsDocument{Passed: passed}
	for i, file := range files {
		doc, c, err := do(file)
		if err != nil && errors.Is(err, cmd.Context().Err()) {
			several.Interrupted, several.Left = true, len(files)-i-1
			break
		}
		if err != nil {
			c = a.Complain(err)
			doc.Schema, doc.File, doc.Error = 1, cmp.Or(doc.File, file), err.Error()
		}
		if doc.Properties == nil {
			doc.Properties = []rundir.PropertyVerdict{}
		}
		several.Files = append(several.Files, doc.Verdict)
		code = exit.Worse(code, c)
	}
	if a.JSON {
		if err := a.printVerdicts(several); err != nil {
			return err
		}
	}
	return exit.With(code)
}

// check judges one file. readings reports whether a flag chose between several readings
// of the file.
func (a *app) check(ctx context.Context, file string, c checking, readings bool) (doc verdictDocument, code int, err error) {
	src := a.source(file)
	in, err := src.take(ctx, c)
	if err != nil {
		return doc, 0, err
	}
	a.warn(in.warnings)
	switch {
	case in.idle() != "":
		a.Printf("%s %s: %s\n", a.Sign(checker.Unknown), src.title(), in.idle())
		doc, code = in.idleDocument(file), exit.Unproven
	case in.judge != nil:
		doc, code, err = a.checkModel(ctx, src, in, c)
	default:
		if readings && !a.Quiet {
			a.Say("lockcheck: %s is judged by properties: --strict-try and --failed-release change nothing; --model NAME holds it against a model\n", src.title())
		}
		doc, code, err = a.checkProperties(ctx, src, in, c)
	}
	for _, w := range in.warnings {
		doc.Warnings = append(doc.Warnings, w.String())
	}
	return doc, code, err
}

// warn prints the oddities of a file.
func (a *app) warn(warnings []history.Warning) {
	if a.Quiet {
		return
	}
	for _, w := range warnings {
		a.Say("lockcheck: %v\n", w)
	}
}

// checkProperties judges a history by properties.
func (a *app) checkProperties(ctx context.Context, src *source, in *taken, c checking) (doc verdictDocument, code int, err error) {
	h, pr := in.history, c.promise
	var head *history.Header
	var judge func(context.Context) []checker.Verdict
	var reach func() checker.Counts
	if l := in.log; l != nil {
		// While a log is judged, most of the memory would be garbage of the judges.
		defer debug.SetGCPercent(debug.SetGCPercent(20))
		head, reach = &l.Header, func() checker.Counts { return checker.ReachLog(l) }
		judge = func(ctx context.Context) []checker.Verdict { return checker.JudgeLog(ctx, l) }
	} else {
		head, reach = &h.Header, func() checker.Counts { return checker.Reach(h) }
		judge = func(ctx context.Context) []checker.Verdict { return checker.JudgeWithin(ctx, h) }
	}
	var verdicts []checker.Verdict
	var reached checker.Counts
	if slices.Contains(pr, checker.Fairness) {
		head.Order = true // no matter who recorded it: the flag states the order
	}
	limits := ""
	err = within(ctx, func() error {
		judging, cancel := ctx, func() {}
		if c.options.Timeout > 0 {
			judging, cancel = context.WithTimeout(ctx, c.options.Timeout)
		}
		defer cancel()
		verdicts = judge(judging)
		for i := range verdicts {
			if v := &verdicts[i]; v.Reason == checker.OutOfTime {
				v.Reason = models.OutOfTime(c.options.Timeout)
				limits = c.limits()
			}
		}
		if judging.Err() == nil {
			reached = reach()
		}
		return nil
	})
	if err != nil {
		return doc, 0, err
	}
	if len(pr) == 0 {
		pr = ask.Recorded(a.Say, head.Promises, src.title())
	}
	code = a.Disputed(src.title(), verdicts, exit.Of(pr.Judge(outcomes(verdicts))))
	doc.Verdict = rundir.NewVerdict(verdicts, reached)
	doc.File, doc.Reason, doc.limits = src.name, ask.Unjudged(pr), limits
	for i, p := range doc.Properties {
		for _, n := range p.Entries {
			doc.Properties[i].Lines = append(doc.Properties[i].Lines, int(in.lines[n-1]))
		}
	}
	if !c.alone {
		a.VerdictLine(src.title(), verdicts, pr)
		return doc, code, nil
	}
	if in.log == nil {
		err = a.Story(h, verdicts, pr)
	} else if !a.JSON && !a.Quiet {
		a.Paragraph(0, report.TooLong(in.entries))
		a.Printf("\n")
	}
	if err != nil {
		return doc, 0, err
	}
	a.VerdictTable(verdicts, pr)
	for _, p := range doc.Properties {
		if p.Lines == nil || !pr.Covers(checker.Property(p.Property)) || a.JSON || a.Quiet {
			continue
		}
		a.Printf("%s\n\n", p.Property)
		if err := a.quote(ctx, src, in, p.Lines); err != nil {
			return doc, 0, err
		}
	}
	if c.html != "" {
		if err := a.picture(ctx, c.html, in.picture(verdicts, pr)); err != nil {
			return doc, 0, err
		}
	}
	if !a.Quiet {
		if limits != "" {
			a.Paragraph(0, limits)
			a.Printf("\n")
		}
		a.Printf("File     %s\n", src.title())
	}
	return doc, code, nil
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
