package names

import (
	"fmt"
	"strings"
)

// Count returns a number with its noun: "1 run", "2,000 runs", "2 entries".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "ry"); ok {
		thing = stem + "rie"
	}
	return fmt.Sprintf("%s %ss", Thousands(n), thing)
}

// Times returns how often something happened: "never", "once", "twice", "3 times".
func Times(n int) string {
	switch n {
	case 0:
		return "never"
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Thousands(n) + " times"
}

// Join returns the words of a list, with between between them.
func Join[T ~string](list []T, between string) string {
	return strings.Join(of(list, func(word T) string { return string(word) }), between)
}

// Thousands formats a number with separators: 12,345.
func Thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Numbered returns numbers with their noun: "shard 3", "shards 1, 3".
func Numbered(thing string, list []int) string {
	if len(list) != 1 {
		thing += "s"
	}
	return thing + " " + strings.ReplaceAll(strings.Trim(fmt.Sprint(list), "[]"), " ", ", ")
}

// NotBegun returns the words for n more items that were not begun.
func NotBegun(n int) string {
	if n == 1 {
		return "1 more was not begun"
	}
	return Thousands(n) + " more were not begun"
}
