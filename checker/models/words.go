package models

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// who returns the client of a process, with the process number if the client has
// several.
func (j *Judge) who(p int32) string {
	name := j.clients[j.procs[p].client].name
	if n := strconv.Itoa(j.procs[p].number); name == n {
		return "process " + n
	}
	for i := range j.procs {
		if int32(i) != p && j.procs[i].client == j.procs[p].client && j.procs[p].number >= 0 {
			return fmt.Sprintf("%s (process %d)", name, j.procs[p].number)
		}
	}
	return name
}

// named returns a lock as words for a sentence.
func (j *Judge) named(l int32) string {
	if name := j.locks[l].name; name != "" {
		return strconv.Quote(name)
	}
	return "the lock"
}

// heldFrom returns the lines between which a hold is certain.
func (j *Judge) heldFrom(h *hold) string {
	text := fmt.Sprintf("held %s from line %d on", j.named(h.lock), j.lines.of(h.ret))
	if h.end != never {
		text = fmt.Sprintf("held %s from line %d to line %d", j.named(h.lock), j.lines.of(h.ret), j.lines.of(h.end))
	}
	if h.until != 0 {
		text += fmt.Sprintf(" (valid until %s)", seconds(h.until))
	}
	return text
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
	return fmt.Sprintf("%d times", n)
}

// span returns one line, or several.
func (j *Judge) span(from, to int32) string {
	if from == to {
		return fmt.Sprintf("line %d", j.lines.of(from))
	}
	return fmt.Sprintf("lines %d to %d", j.lines.of(from), j.lines.of(to))
}

// list joins the first few phrases.
func list(said []string) string {
	const few = 5
	if n := len(said); n > few {
		return fmt.Sprintf("%s; and %d more", strings.Join(said[:few], "; "), n-few)
	}
	return strings.Join(said, "; ")
}
