package report

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/lockcheck/lockcheck/history"
)

// failure is a kind of error that a client library put into words, or of a late answer.
type failure struct {
	what, text string
	times      int
}

// words returns the failure for people: "acquire failed 545 times: zk: lock twice".
func (f *failure) words() string {
	times := " times"
	if f.times == 1 {
		times = " time"
	}
	return f.what + " " + thousands(f.times) + times + ": " + f.text
}

// mostFailures is how many kinds of errors a story names.
const mostFailures = 5

// numbers matches what differs between errors of one kind, such as ports.
var numbers = regexp.MustCompile(`[0-9]+`)

// failures returns the kinds of errors with a text, and of late answers, the most frequent
// first. Errors of one kind differ in numbers only. In virtual time all errors are ours.
func failures(h *history.History) (list []*failure) {
	if !h.Header.RealTime() {
		return nil
	}
	kinds := map[string]*failure{}
	for i := range h.Entries {
		e := &h.Entries[i]
		what, text := failureOf(e)
		if text == "" {
			continue
		}
		kind := what + "\n" + numbers.ReplaceAllString(text, "#")
		if kinds[kind] == nil {
			kinds[kind] = &failure{what: what, text: text}
			list = append(list, kinds[kind])
		}
		kinds[kind].times++
	}
	slices.SortStableFunc(list, func(a, b *failure) int { return cmp.Compare(b.times, a.times) })
	return list
}

// failureOf returns what failed in an entry, and the text of its error; "": nothing did, or
// no text says more than the story does.
func failureOf(e *history.Entry) (what, text string) {
	if !e.Process.Client() || e.Text == "" {
		return "", ""
	}
	switch {
	case e.F == history.Late:
		of, outcome, _ := strings.Cut(e.Text, " answered late: ")
		return of + " was answered late", outcome
	case e.Error == history.ErrTimeout || e.Error == history.ErrCrashed || e.Error == history.ErrBudget:
		return "", ""
	case e.Type == history.Fail:
		what = e.F + " failed"
	case e.Type == history.Info:
		what = e.F + " ended, its outcome unknown,"
	default:
		return "", ""
	}
	text, _, _ = strings.Cut(strings.TrimPrefix(e.Text, e.Error+": "), "\n")
	return what, text
}

// failures lists the errors of clients.
func (p *page) failures(h *history.History) {
	list := failures(h)
	if list == nil {
		return
	}
	p.blank()
	p.text(2, plain, "Errors of clients:")
	for _, f := range list[:min(len(list), mostFailures)] {
		p.hanging(2, plain, "– "+f.words())
	}
	if more := len(list) - mostFailures; more > 0 {
		p.hanging(2, plain, fmt.Sprintf("– and %d more kinds", more))
	}
}
