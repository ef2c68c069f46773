package results

import (
	"os"
	"path/filepath"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// KnownViolations are those of an earlier result, the baseline. The zero value means that
// there is no baseline.
type KnownViolations struct {
	file   string
	digest string
	past   *Document // nil: no baseline
}

// ReadKnown reads the known violations before the first run; file "" means no baseline.
// The baseline cannot be the result that this command is about to write below out: the
// next run would then count every new violation as known. out "" means that no result is
// written.
func ReadKnown(file, out string) (k KnownViolations, err error) {
	if file == "" {
		return k, nil
	}
	if out != "" && rundir.SameFile(file, filepath.Join(out, File)) {
		return k, exit.Errorf(exit.Usage, "the baseline: %s is where a suite or a shard leaves its result: copy it, and name the copy", file)
	}
	past, err := ReadFile(file)
	if err != nil {
		return k, exit.Errorf(exit.Usage, "the baseline: %w", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return k, exit.Errorf(exit.Usage, "the baseline: %w", err)
	}
	return KnownViolations{file, rundir.Digest(text), past}, nil
}

// None reports whether there is no baseline.
func (k *KnownViolations) None() bool { return k.past == nil }

// Note notes the baseline in the head of a document, because shards can be joined only if
// they had the same one. It returns an error if the two results cannot be compared.
func (k *KnownViolations) Note(h *Head) error {
	if k.None() {
		return nil
	}
	if why := h.Incomparable(&k.past.Head); why != "" {
		return exit.Errorf(exit.Usage, "the baseline: %s: %s", k.file, why)
	}
	k.Replace(h)
	return nil
}

// Replace notes the baseline in the head of a document, in place of one that is there.
func (k *KnownViolations) Replace(h *Head) {
	if !k.None() {
		h.Settings[BaselineSetting] = k.digest
	}
}

// Compare compares a result with the baseline, if there is one.
func (k *KnownViolations) Compare(d *Document) {
	if !k.None() {
		d.Against(k.file, k.past)
	}
}
