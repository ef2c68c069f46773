package judging

import (
	"cmp"
	"context"
	"errors"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/terminal"
)

// Document is the --json document for one history.
type Document struct {
	rundir.Verdict

	limits string // of a judge that ran out of time or memory
}

// PrintVerdicts prints one document for all files that a command judged. For a single
// file that is the file's own document.
func PrintVerdicts(t *terminal.Terminal, several Documents) error {
	if len(several.Files) == 1 && !several.Interrupted {
		one := several.Files[0]
		one.Passed = several.Passed
		return t.PrintJSON(one)
	}
	several.Schema, several.Files = 1, append([]rundir.Verdict{}, several.Files...)
	return t.PrintJSON(several)
}

// Documents is the --json document for several histories, or none.
type Documents struct {
	Schema int              `json:"schema"` // version of this document
	Files  []rundir.Verdict `json:"files"`  // what came of each, in order

	Passed      []string `json:"passed_over,omitempty"` // of check, of directories: files beside histories that end as these do and are none
	Interrupted bool     `json:"interrupted,omitempty"` // somebody ended it: this is what there was until then
	Left        int      `json:"not_begun,omitempty"`   // files or cases that were not begun, as it was interrupted
}

// Each calls do for each file. An error with one file does not stop the others; the
// worst exit code counts. passed are the files that were passed over.
func Each(ctx context.Context, t *terminal.Terminal, files, passed []string, do func(file string) (Document, int, error)) error {
	code := exit.Held
	several := Documents{Passed: passed}
	for i, file := range files {
		doc, c, err := do(file)
		if err != nil && errors.Is(err, ctx.Err()) {
			several.Interrupted, several.Left = true, len(files)-i-1
			break
		}
		if err != nil {
			c = t.Complain(err)
			doc.Schema, doc.File, doc.Error = 1, cmp.Or(doc.File, file), err.Error()
		}
		if doc.Properties == nil {
			doc.Properties = []rundir.PropertyVerdict{}
		}
		several.Files = append(several.Files, doc.Verdict)
		code = exit.Worse(code, c)
	}
	if t.JSON {
		if err := PrintVerdicts(t, several); err != nil {
			return err
		}
	}
	return exit.With(code)
}
