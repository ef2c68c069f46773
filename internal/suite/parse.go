package suite

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Problem is one mistake in a file.
type Problem struct {
	Line, Column int // from 1
	Words        string
	beyond       string // kind of a mistake that no schema can find; "": a schema finds it
}

// Problems are all mistakes in a file, in its order. The error text has a line for each
// that begins with LINE:COLUMN.
type Problems []Problem

func (ps Problems) Error() string { return ps.text("") }

// In returns the problems with FILE before each, in the format that editors read.
func (ps Problems) In(file string) *InFile { return &InFile{file, ps} }

// InFile has the problems of a file with a name.
type InFile struct {
	File string
	Problems
}

func (f *InFile) Error() string { return f.text(f.File + ":") }

func (ps Problems) text(before string) string {
	var lines []string
	for _, p := range ps {
		lines = append(lines, fmt.Sprintf("%s%d:%d: %s", before, p.Line, p.Column, p.Words))
	}
	return strings.Join(lines, "\n")
}

// Parse reads a suite for any machine. The error is Problems, with all mistakes. If the
// file is not plain YAML, it has only the mistakes in the YAML.
func Parse(text []byte) (*Suite, error) { return Here(nil).Parse(text) }

// Here checks, by key, values that are valid on some machines only, such as the name of
// a file. A function returns an error if the value is wrong on this machine.
type Here map[string]func(value string) error

// Parse reads a suite for this machine.
func (h Here) Parse(text []byte) (*Suite, error) {
	root, err := document(text)
	if err != nil {
		return nil, err
	}
	s := Suite{Seed: 1}
	r := reader{here: h}
	if r.tags(root); r.problems == nil { // the type of a value depends on its tag
		r.suite(root, &s)
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int {
			return cmp.Or(a.Line-b.Line, a.Column-b.Column)
		})
		return nil, r.problems
	}
	return &s, nil
}

// document returns the node of the only document in a file.
func document(text []byte) (*yaml.Node, error) {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	if err != nil {
		return nil, unreadable(text, err)
	}
	var first, second yaml.Node
	err = loader.Load(&first)
	if errors.Is(err, io.EOF) || err == nil && empty(&first) {
		return nil, Problems{{Line: 1, Column: 1, Words: "nothing is written here: lockcheck init writes a suite to begin with"}}
	} else if err != nil {
		return nil, unreadable(text, err)
	}
	switch err := loader.Load(&second); {
	case errors.Is(err, io.EOF):
		return first.Content[0], nil
	case err != nil:
		return nil, unreadable(text, err)
	}
	return nil, Problems{{Line: second.Line, Column: second.Column, Words: "a second document begins here: a suite is one; put the other into a file of its own"}}
}

// empty reports whether a document is empty.
func empty(n *yaml.Node) bool { return len(n.Content) == 0 || isNull(n.Content[0]) }

// reader reads a file and notes all mistakes.
type reader struct {
	here     Here
	problems Problems
}

// wrong notes a mistake at a node.
func (r *reader) wrong(n *yaml.Node, words string, args ...any) {
	r.problems = append(r.problems, Problem{Line: n.Line, Column: n.Column, Words: fmt.Sprintf(words, args...)})
}

// The owners of keys.
const (
	aSuite  = "a suite"
	anEntry = "an entry"
)

// suite reads the whole file.
func (r *reader) suite(n *yaml.Node, s *Suite) {
	at, ok := r.mapping(n, reflect.ValueOf(s).Elem(), suiteKeys, aSuite)
	if !ok {
		return
	}
	list := at["locks"]
	if list == nil || isNull(list) {
		return // this has been noted
	}
	r.behind(list, func(list *yaml.Node) {
		if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
			r.wrong(list, "locks has to be a list of entries, each with a lock or a worker, as - lock: redis-set-lua")
			return
		}
		r.entries(list, s)
	})
}

// entries reads the list of entries.
func (r *reader) entries(list *yaml.Node, s *Suite) {
	taken := map[string]*Entry{}
	for _, n := range list.Content {
		e := Entry{Line: n.Line, Column: n.Column}
		r.behind(n, func(n *yaml.Node) {
			at, ok := r.mapping(n, reflect.ValueOf(&e).Elem(), entryKeys, anEntry)
			if !ok {
				return
			}
			c := check{reader: r, entry: &e, at: at, node: n}
			c.all()
			c.apart(taken)
			s.Locks = append(s.Locks, e)
		})
	}
}

// mapping reads keys and values into a struct, and returns the nodes of the values as
// they are written.
func (r *reader) mapping(n *yaml.Node, into reflect.Value, keys map[string]key, what string) (at map[string]*yaml.Node, ok bool) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, "%s is keys and values, as runs: 20, and this is %s", what, shown(n))
		return nil, false
	}
	at = map[string]*yaml.Node{}
	order := keyOrder(into.Type())
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case k.Tag == "!!merge":
			r.wrong(k, "<< merges nothing here: write the keys out")
			continue
		case k.Kind != yaml.ScalarNode:
			r.wrong(k, "%s is no key: a key is a word", shown(k))
			continue
		case !slices.Contains(order, k.Value) && suiteKeys[k.Value].about+entryKeys[k.Value].about != "":
			r.wrong(k, "%s is no key of %s: write it %s", k.Value, what, where[what])
			continue
		case !slices.Contains(order, k.Value):
			r.unknown(k, "key", k.Value, order)
			continue
		case at[k.Value] != nil:
			r.wrong(k, "%s is a duplicate: line %d has it", k.Value, at[k.Value].Line)
			continue
		}
		at[k.Value] = v
		r.behind(v, func(v *yaml.Node) { r.value(v, k.Value, keys[k.Value], field(into, k.Value)) })
	}
	for _, name := range order {
		if keys[name].need && at[name] == nil {
			r.wrong(n, "%s needs the key %s%s", what, name, map[string]string{"lockcheck": ", the version of the format: lockcheck: 1"}[name])
		}
	}
	return at, true
}

// where has the right place for a key that is in the wrong one.
var where = map[string]string{aSuite: "in an entry of locks", anEntry: "without indentation, beside locks"}

// field returns the field of a struct that a key sets.
func field(into reflect.Value, name string) reflect.Value {
	for _, f := range fieldsOf(into.Type()) {
		if f.Tag.Get("yaml") == name {
			return into.FieldByIndex(f.Index)
		}
	}
	panic("no field " + name)
}

// behind reads a node, or the node that an alias refers to. Mistakes in the value
// itself are noted once, where it is written. Mistakes that exist only here are noted
// here.
func (r *reader) behind(n *yaml.Node, read func(*yaml.Node)) {
	before := len(r.problems)
	read(meant(n))
	if n.Kind != yaml.AliasNode {
		return
	}
	since := slices.Clone(r.problems[before:])
	r.problems = r.problems[:before]
	for _, p := range since {
		here := p
		here.Line, here.Column = n.Line, n.Column
		if !slices.Contains(r.problems, p) && !slices.Contains(r.problems, here) {
			r.problems = append(r.problems, here)
		}
	}
}

// meant returns the node that an alias refers to, or the node itself.
func meant(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
