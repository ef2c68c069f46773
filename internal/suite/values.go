package suite

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/lockcheck/lockcheck/internal/names"
)

// The types that YAML has for values.
const (
	tagText = "!!str"
	tagTime = "!!timestamp" // a date, which is text like any other here
	tagInt  = "!!int"
	tagBool = "!!bool"
	tagNull = "!!null"
)

// value reads the value of a key into its field. The list of entries is read by
// entries.
func (r *reader) value(n *yaml.Node, name string, k key, into reflect.Value) {
	switch {
	case isNull(n) && k.as != "":
		r.wrong(n, "%s says nothing: write a value, as %s", name, k.as)
		return
	case isNull(n):
		r.wrong(n, "%s says nothing: leave it out, or write a value", name)
		return
	}
	switch to := into.Addr().Interface().(type) {
	case *[]Entry:
	case *Duration:
		if k.form = length; r.text(n, name, k) {
			t, err := time.ParseDuration(n.Value)
			if err != nil {
				t = math.MaxInt64 // a duration that matches the format can only be too long
			}
			if err := k.long(t); err != nil {
				r.beyond("a length of time out of bounds", n, "%s %s: %v", name, n.Value, err)
				return
			}
			*to = Duration(t)
		}
	case *string:
		if !r.text(n, name, k) {
			return
		}
		*to = n.Value
		if wrong := r.here[name]; wrong != nil {
			if err := wrong(n.Value); err != nil {
				r.beyond("what is not there", n, "%v", err)
			}
		}
	case *bool:
		if n.Tag != tagBool || n.Decode(to) != nil {
			r.wrong(n, "%s: it has to be true or false", named(name, n))
		}
	case *int:
		if number, ok := r.number(n, name, k); ok {
			*to = int(number)
		}
	case *uint64:
		if number, ok := r.number(n, name, k); ok {
			*to = number
		}
	default: // a list of text with any type of items
		for _, item := range r.list(n, name, k) {
			into.Set(reflect.Append(into, reflect.ValueOf(item).Convert(into.Type().Elem())))
		}
	}
}

// text reports whether n is a valid text for the key, and notes a mistake.
func (r *reader) text(n *yaml.Node, name string, k key) bool {
	switch {
	case k.words != nil && isText(n):
		return r.word(n, k, k.words())
	case k.words != nil:
		r.wrong(n, "%s: it has to be the name of a %s, as %s", named(name, n), k.one, k.words()[0])
	case !isText(n) && n.Kind == yaml.ScalarNode && k.form != length:
		r.wrong(n, "%s %s: it has to be text, and in quotes it is: %q", name, n.Value, n.Value)
	case !isText(n) || !k.form.fits(n.Value):
		r.wrong(n, "%s: it has to be %s", named(name, n), k.form.words)
	default:
		return true
	}
	return false
}

// word reports whether n is one of the possible words, and notes a mistake.
func (r *reader) word(n *yaml.Node, k key, words []string) bool {
	switch item := n.Value; {
	case slices.Contains(words, item):
		return true
	case strings.ContainsAny(item, ", ") && k.one != "lock":
		r.wrong(n, "no %s %q; a list is written [%s]", k.one, item, strings.Join(strings.FieldsFunc(item, func(c rune) bool { return strings.ContainsRune(", ", c) }), ", "))
	case item == "exhaustive" && k.one == "strategy":
		r.wrong(n, "exhaustive draws no runs, and a suite is made of runs: lockcheck run LOCK --strategy exhaustive")
	default:
		r.unknown(n, k.one, item, words)
	}
	return false
}

// unknown notes an unknown name.
func (r *reader) unknown(n *yaml.Node, what, name string, known []string) {
	if !strings.HasPrefix(name, "-") { // a name with - removes an item
		known = slices.DeleteFunc(slices.Clone(known), func(w string) bool { return strings.HasPrefix(w, "-") })
	}
	r.wrong(n, "%v", names.Unknown(what, name, known))
}

// list reads one word, or a list of them.
func (r *reader) list(n *yaml.Node, name string, k key) (items []string) {
	words := k.words()
	switch {
	case isText(n):
		if r.word(n, k, words) {
			items = []string{n.Value}
		}
		return items
	case n.Kind != yaml.SequenceNode:
		r.wrong(n, "%s: it has to be one %s, or a list of such: [%s, %s]", named(name, n), k.one, words[0], words[1])
		return nil
	case len(n.Content) == 0:
		r.wrong(n, "%s is a list of nothing: leave it out, or name a %s", name, k.one)
	}
	for _, it := range n.Content {
		r.behind(it, func(it *yaml.Node) {
			switch {
			case !isText(it):
				r.wrong(it, "%s in %s: it has to be the name of a %s", shown(it), name, k.one)
			case slices.Contains(items, it.Value):
				r.wrong(it, "%s is in the list twice", it.Value)
			case r.word(it, k, words):
				items = append(items, it.Value)
			}
		})
	}
	return items
}

// plain matches the form of numbers. 010 and 1_0 have another value in YAML, and differ
// between its readers.
var plain = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

// number reads a whole number.
func (r *reader) number(n *yaml.Node, name string, k key) (number uint64, ok bool) {
	if n.Tag == tagInt && plain.MatchString(n.Value) && n.Decode(&number) == nil && k.least() <= number && number <= k.most {
		return number, true
	}
	if k.most == Format {
		r.wrong(n, "%s: this lockcheck knows format %d only", named(name, n), Format)
	} else {
		r.wrong(n, "%s: it has to be a whole number from %d to %d, in plain digits", named(name, n), k.least(), k.most)
	}
	return 0, false
}

func (f *form) fits(text string) bool {
	for _, p := range f.all {
		if !p.MatchString(text) {
			return false
		}
	}
	return true
}

func isText(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (n.Tag == tagText || n.Tag == tagTime)
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == tagNull }

// named returns a key and its value as errors name them.
func named(name string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		return name + " is " + shown(n)
	}
	return name + " " + shown(n)
}

// shown returns a value as errors quote it.
func shown(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case isNull(n):
		return "nothing"
	case isText(n):
		return strconv.Quote(n.Value)
	}
	return n.Value
}
