package rundir

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/lockcheck/lockcheck/internal/harness"
)

// Name returns the name of a run's directory: the case, or lock, fault and seed. That of
// an exhaustive search has its bound and its properties instead of the seed. A name is
// one element of a path, whatever a schedule calls its lock.
func Name(p *harness.Plan) string {
	if p.Case != "" {
		return Slug(p.Case)
	}
	fault := "none"
	if len(p.Faults) > 0 {
		fault = p.Faults[0].Fault
	}
	if p.Order != nil {
		return Slug(fmt.Sprintf("%s-%s-exhaustive-%dx%d-%s", p.Lock, fault, len(p.Clients), p.Acquires, strings.Join(p.Promises, "-")))
	}
	return Slug(fmt.Sprintf("%s-%s-%d", p.Lock, fault, p.Seed))
}

// Slug returns a name that can be an element of a path everywhere.
func Slug(name string) string {
	words := strings.FieldsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.=", r)
	})
	return strings.TrimLeft(strings.Join(words, "-"), ".-")
}

// Unique returns base, or base with a number if the name is taken, and takes it. Names
// that differ only in case are the same: on some systems they are one directory.
func Unique(taken map[string]bool, base string) string {
	name := base
	for i := 2; taken[strings.ToLower(name)]; i++ {
		name = fmt.Sprintf("%s-%d", base, i)
	}
	taken[strings.ToLower(name)] = true
	return name
}
