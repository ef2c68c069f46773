package ci

import (
	"strings"
	"unicode/utf8"
)

// text escapes s so that GitHub shows it unchanged in one line, also in a table.
func text(s string) string {
	var b strings.Builder
	for _, r := range strings.Join(strings.Fields(s), " ") {
		if strings.ContainsRune("\\`*_[]<>|#~&$@", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// inline returns s as code within a line.
func inline(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if !strings.Contains(s, "`") {
		return "`" + s + "`"
	}
	ticks := strings.Repeat("`", longest(s)+1)
	return ticks + " " + s + " " + ticks
}

// fenced returns s as a block of code. The fence is too long to be ended by s.
func fenced(language, s string) string {
	fence := strings.Repeat("`", max(3, longest(s)+1))
	return fence + language + "\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n\n"
}

// longest returns the length of the longest run of backticks.
func longest(s string) (most int) {
	n := 0
	for _, r := range s {
		if r != '`' {
			n = 0
			continue
		}
		n++
		most = max(most, n)
	}
	return most
}

// cut shortens a page to at most limit bytes. It cuts after a whole line, or after a
// whole rune if the first line is too long. It then ends an open block of code, and
// adds note.
func cut(page string, limit int, note string) string {
	if len(page) <= limit {
		return page
	}
	for room := limit; room >= 0; {
		room = min(room, len(page))
		for room > 0 && !utf8.RuneStart(page[room]) {
			room--
		}
		kept := page[:room]
		if end := strings.LastIndexByte(kept, '\n'); end > 0 {
			kept = kept[:end+1]
		}
		if whole := kept + ending(kept) + "\n" + note + "\n"; len(whole) <= limit {
			return whole
		} else {
			room -= len(whole) - limit
		}
	}
	return ""
}

// ending returns the text that ends the last line and an open block of code.
func ending(page string) string {
	fence, end := "", ""
	for line := range strings.Lines(page) {
		ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence == "" && len(ticks) >= 3:
			fence = ticks
		case fence != "" && len(ticks) >= len(fence) && strings.TrimSpace(line) == ticks:
			fence = ""
		}
	}
	if !strings.HasSuffix(page, "\n") {
		end = "\n"
	}
	if fence != "" {
		end += fence + "\n"
	}
	return end
}
