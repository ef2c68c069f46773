package docs

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// document is a section of json.md.
type document struct {
	title string
	root  goType
	about string // the command that prints it, and its purpose
	shows []example
}

// example is a command, and a part of its output.
type example struct{ command, output string }

// documentOf returns the document that a type describes.
func documentOf(of goType) *document {
	i := slices.IndexFunc(documents, func(d document) bool { return d.root == of })
	if i < 0 {
		return nil
	}
	return &documents[i]
}

const aboutJSON = `# What --json prints

<!-- Written by go test ./docs -update, from the types in Go and their comments. -->

With ` + "`--json`" + ` a command prints one JSON document on its standard output, and nothing else. Text for people goes to standard error.
The exit code is the same as without ` + "`--json`" + `. A command that cannot begin (exit codes 3 and 4, see [ci.md](ci.md)) may print no document.

**The version.** Each document has a ` + "`schema`" + `, which is %d now. Within a version only new fields may appear, so a program has to ignore fields that
it does not know. If a field is removed or changes its meaning, the number changes. The names of locks, faults, cases and counters are not part of
the version: there will be more of them.

**The tables.** The column "there" says when a document has the field. Seeds go up to 2^64−1: read them as integers. Names that end in
` + "`_ns`" + ` are nanoseconds, in ` + "`_ms`" + ` milliseconds, and ` + "`seconds`" + ` are seconds. Paths are relative to the directory in which the command
was called. Paths in a ` + "`result.json`" + ` are relative to its own directory.

Each example is a part of the output of the command above it. The examples run one after another in one directory.

`

func jsonPage(t *testing.T) string {
	s := &schema{t: t, read: map[string]bool{}, decl: map[goType]declared{}, text: map[goType]bool{}}
	var b strings.Builder
	fmt.Fprintf(&b, aboutJSON, schemaVersion)
	b.WriteString("| document | of |\n|---|---|\n")
	for _, d := range documents {
		fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", d.title, anchor(d.title), d.of())
	}
	done := map[string]goType{}
	var tell func(of goType, head string)
	tell = func(of goType, head string) {
		if was, told := done[title(of)]; told {
			if was != of {
				t.Errorf("%s of %s and of %s have one name: %s", of.name, was.dir, of.dir, title(of))
			}
			return
		}
		done[title(of)] = of
		b.WriteString(head)
		if s.valued(of) {
			b.WriteString("| value | meaning |\n|---|---|\n")
			for _, v := range s.find(of).values {
				fmt.Fprintf(&b, "| `%s` | %s |\n", v.text, about("", v.means))
			}
			return
		}
		fields, refers := s.fields(of, "")
		b.WriteString("| field | type | there | meaning |\n|---|---|---|---|\n")
		for _, f := range fields {
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.name, f.kind, f.there, f.means)
		}
		for _, r := range refers {
			if documentOf(r) == nil {
				about, _, _ := strings.Cut(about(r.name, s.find(r).doc), ". ")
				if about == "" {
					t.Fatalf("%s in %s: a comment has to say what it is", r.name, r.dir)
				}
				tell(r, fmt.Sprintf("\n### %s\n\n%s.\n\n", title(r), sentences(about)))
			}
		}
	}
	for _, d := range documents {
		head := fmt.Sprintf("\n## %s\n\n%s\n\n", d.title, d.about)
		for _, x := range d.shows {
			head += fmt.Sprintf("    $ %s\n\n```json\n%s\n```\n\n", x.command, strings.Trim(x.output, "\n"))
		}
		tell(d.root, head)
	}
	return b.String()
}

// of returns the first sentence about a document.
func (d *document) of() string {
	first, _, _ := strings.Cut(strings.Join(strings.Fields(d.about), " "), ". ")
	return strings.TrimSuffix(first, ".")
}

// The page on JSON equals the text generated from the types and their comments.
func TestThePageOfJSON(t *testing.T) {
	t.Parallel()
	holdPage(t, "json.md", jsonPage(t))
}
