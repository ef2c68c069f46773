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

// Problem is one thing that is wrong in a file.
type Problem struct {
	Line, Column int // from 1
	Words        string
	beyond       string // what of it no schema can say; "": a schema says it
}

// Problems are all that are wrong in a file, in its order. As an error each is
// a line that begins with LINE:COLUMN.
type Problems []Problem

func (ps Problems) Error() string { return ps.text("") }

// In is the same with FILE before each of them, as an editor reads it.
func (ps Problems) In(file string) *InFile { return &InFile{file, ps} }

// InFile are the problems of a file that has a name.
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

// Parse reads a suite, on whatever machine it is to run. An error is Problems, all
// that there are; of a file that is no plain YAML those that make it so.
func Parse(text []byte) (*Suite, error) { return Here(nil).Parse(text) }

// Here says, by the keys of text, what is wrong on this machine with a value that
// could be right on another: a file that is not there.
type Here map[string]func(value string) error

// Parse reads a suite that is to run here.
func (h Here) Parse(text []byte) (*Suite, error) {
	root, err := document(text)
	if err != nil {
		return nil, err
	}
	s := Suite{Seed: 1}
	r := reader{here: h}
	if r.tags(root); r.problems == nil { // what a value is hangs on its tag
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

// document is what the one document of a file holds.
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

// empty tells whether a document says nothing.
func empty(n *yaml.Node) bool { return len(n.Content) == 0 || isNull(n.Content[0]) }

// reader goes through a file and notes everything that is wrong.
type reader struct {
	here     Here
	problems Problems
}

// wrong notes what is wrong at a node.
func (r *reader) wrong(n *yaml.Node, words string, args ...any) {
	r.problems = append(r.problems, Problem{Line: n.Line, Column: n.Column, Words: fmt.Sprintf(words, args...)})
}

// What keys are of.
const (
	aSuite  = "a suite"
	anEntry = "an entry"
)

// suite reads all of a file.
func (r *reader) suite(n *yaml.Node, s *Suite) {
	at, ok := r.mapping(n, reflect.ValueOf(s).Elem(), suiteKeys, aSuite)
	if !ok {
		return
	}
	list := at["locks"]
	if list == nil || isNull(list) {
		return // which has been noted
	}
	r.behind(list, func(list *yaml.Node) {
		if list.Kind != yaml.SequenceNode || len(list.Content) == 0 {
			r.wrong(list, "locks has to be a list of entries, each with a lock or a worker, as - lock: redis-set-lua")
			return
		}
		r.entries(list, s)
	})
}

// entries reads the list of them.
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

// mapping reads keys and values into a struct, and returns the values' nodes, as
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
			r.wrong(k, "%s is no key of %s: it goes %s", k.Value, what, where[what])
			continue
		case !slices.Contains(order, k.Value):
			r.unknown(k, "key", k.Value, order)
			continue
		case at[k.Value] != nil:
			r.wrong(k, "%s is there twice: it was said in line %d", k.Value, at[k.Value].Line)
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

// where a key goes that is not of what it is in.
var where = map[string]string{aSuite: "into an entry of locks", anEntry: "to the left, beside locks"}

// field is that of a struct which a key sets.
func field(into reflect.Value, name string) reflect.Value {
	for i := range into.NumField() {
		if into.Type().Field(i).Tag.Get("yaml") == name {
			return into.Field(i)
		}
	}
	panic("no field " + name)
}

// behind reads a node, or what it stands for as an alias. What is wrong with that
// wherever it is called for has been noted where it is written; what is wrong with it
// here only is noted here.
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

// meant is what an alias stands for.
func meant(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
