package models

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// who returns the client of a process, with the process number if the client has
// several.
func (a *account) who(p int32) string {
	name := a.clients[a.procs[p].client].name
	if n := strconv.Itoa(a.procs[p].number); name == n {
		return "process " + n
	}
	for i := range a.procs {
		if int32(i) != p && a.procs[i].client == a.procs[p].client && a.procs[p].number >= 0 {
			return fmt.Sprintf("%s (process %d)", name, a.procs[p].number)
		}
	}
	return name
}

// named returns a lock as words for a sentence.
func (a *account) named(l int32) string {
	if name := a.locks[l].name; name != "" {
		return strconv.Quote(name)
	}
	return "the lock"
}

// heldFrom returns the lines between which a hold is certain.
func (a *account) heldFrom(h *hold) string {
	text := fmt.Sprintf("held %s from line %d on", a.named(h.lock), a.lines.of(h.ret))
	if h.end != never {
		text = fmt.Sprintf("held %s from line %d to line %d", a.named(h.lock), a.lines.of(h.ret), a.lines.of(h.end))
	}
	if h.until != 0 {
		text += fmt.Sprintf(" (valid until %s)", seconds(h.until))
	}
	return text
}

// span returns one line, or several.
func (a *account) span(from, to int32) string {
	if from == to {
		return fmt.Sprintf("line %d", a.lines.of(from))
	}
	return fmt.Sprintf("lines %d to %d", a.lines.of(from), a.lines.of(to))
}

// seconds formats a time for people.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 3, 64) + " s" }

// plural returns a count of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// times returns how often something happened, in words.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return plural(n, "time")
}

// list joins the first few phrases.
func list(said []string) string {
	const few = 5
	if n := len(said); n > few {
		return fmt.Sprintf("%s; and %d more", strings.Join(said[:few], "; "), n-few)
	}
	return strings.Join(said, "; ")
}
