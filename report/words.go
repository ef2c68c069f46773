package report

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

func number[T int64 | uint64](n T) string { return fmt.Sprint(n) }

// times returns how often something happened: "once", "twice", "3 times".
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return number(int64(n)) + " times"
}

// more returns a number of further things: "1 more grant", "2 more grants".
func more(n int, thing string) string {
	if n > 1 {
		thing += "s"
	}
	return number(int64(n)) + " more " + thing
}

// list joins words: "a", "a and b", "a, b and c".
func list(words []string) string {
	switch n := len(words); n {
	case 0:
		return ""
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
}

func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func possessive(name string) string { return name + "'s" }

// several lists servers, or gives their number.
func several(servers []string) string {
	if n := len(servers); n > 3 {
		return fmt.Sprintf("%d servers", n)
	}
	return list(servers)
}

var anEntry = regexp.MustCompile(`\b(an entry|entry|entries)\b`)

// inQueue replaces entry by node, ZooKeeper's word.
func inQueue(text string) string {
	return anEntry.ReplaceAllStringFunc(text, func(s string) string {
		return strings.NewReplacer("an entry", "a node", "entry", "node", "entries", "nodes").Replace(s)
	})
}
