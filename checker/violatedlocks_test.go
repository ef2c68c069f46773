package checker

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

var aClient = regexp.MustCompile(`\bc(\d)`)

// onTwoLocks returns the story of a spec told of lock a and, by other clients, of lock b.
// A third lock is used as it should be. It returns "" for a story that names its locks,
// grants or keys in its own way, or has faults, which would strike one of the two only.
func onTwoLocks(s spec) string {
	var b strings.Builder
	lines := slices.Collect(strings.Lines(s.story))
	for _, line := range lines {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case words[0][0] == '.':
			b.WriteString(line)
		case words[1] == "nemesis" || strings.Contains(line, "lock=") || strings.Contains(line, "grant="):
			return ""
		default:
			line = strings.Replace(strings.TrimRight(line, "\n"), "key=", "key=x", 1)
			b.WriteString(line + " lock=a\n" + strings.Replace(aClient.ReplaceAllString(line, "c2$1"), "key=x", "key=y", 1) + " lock=b\n")
		}
	}
	at := strings.Fields(lines[len(lines)-1])[0]
	for _, line := range []string{"c9 acquire", "redis grant of=c9 by=c9 key=z", "c9 acquire ok", "c9 release", "redis remove of=c9 by=c9 key=z", "c9 release ok"} {
		b.WriteString(at + " " + line + " lock=c\n")
	}
	return b.String()
}

// A history may be about several locks: the verdict names exactly those that are violated.
func TestEveryViolatedLockIsNamed(t *testing.T) {
	t.Parallel()
	for _, p := range Properties {
		several := 0
		for _, s := range specs[p] {
			if !strings.HasPrefix(s.want, "violated") {
				continue
			}
			text := onTwoLocks(s)
			if text == "" {
				continue
			}
			v := verdictOn(JudgeWithin(t.Context(), story(t, text)), p)
			if v.Outcome != Violated {
				continue // more clients may get more turns
			}
			if several++; !slices.Equal(v.Locks, []string{"a", "b"}) {
				t.Errorf("%s, %s: the violated locks are %q, want a and b", p, s.name, v.Locks)
			}
		}
		if several < 3 {
			t.Errorf("%s: %d stories of two locks", p, several)
		}
	}
	if v := JudgeWithin(t.Context(), story(t, exclusionSpecs[1].story))[0]; v.Locks != nil {
		t.Errorf("the only lock is named: %q", v.Locks)
	}
}
