package suite

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
)

// unreadable returns the problems of a text that YAML itself rejects.
func unreadable(text []byte, err error) Problems {
	if p, bad := badByte(text); bad {
		return Problems{p}
	}
	p := Problem{Line: 1, Column: 1, Words: err.Error()}
	if at := (*yaml.LoadError)(nil); errors.As(err, &at) {
		p.Words = at.Message
		if at.Mark.Line > 0 {
			p.Line, p.Column = at.Mark.Line, max(1, at.Mark.Column)
		}
	}
	lines := bytes.Split(text, []byte("\n"))
	if p.Line <= len(lines) {
		line := lines[p.Line-1]
		if indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; bytes.ContainsRune(indent, '\t') {
			p.Column, p.Words = 1+bytes.IndexByte(indent, '\t'), "a tab is no indentation in YAML: write spaces"
			return Problems{p}
		}
	}
	p.Words = "this is no YAML: " + p.Words
	return Problems{p}
}

// badByte finds the first byte that is not text, or begins a character that YAML does
// not allow. The errors of YAML do not give its position.
func badByte(text []byte) (p Problem, bad bool) {
	p.Line, p.Column = 1, 1
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRune(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			p.Words = fmt.Sprintf("the byte 0x%02X is no UTF-8: save the file as UTF-8", text[i])
			return p, true
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0xFFFE, c == 0xFFFF:
			p.Words = fmt.Sprintf("%U is a control character: take it out", c)
			return p, true
		case c == '\n':
			p.Line, p.Column = p.Line+1, 0
		}
		p.Column++
		i += size
	}
	return p, false
}

// tags notes tags in a file: YAML's own are redundant, and others mean nothing.
func (r *reader) tags(n *yaml.Node) {
	if n.Style&yaml.TaggedStyle != 0 || n.Tag == "!" {
		r.wrong(n, "the tag %s means nothing here: leave it out", n.Tag)
	}
	for _, in := range n.Content {
		r.tags(in)
	}
}
