package clients

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// ErrNotRESP reports data that is not RESP: Redis's protocol, version 2 or 3.
var ErrNotRESP = errors.New("not the protocol of Redis")

// maxBulk is the largest string of the protocol, in bytes, as in the server.
const maxBulk = 512 << 20

// ReadRequest reads one request, an array of strings or an inline command, and returns
// its raw bytes and its words. With ErrNotRESP raw has the bytes that were read.
func ReadRequest(r *bufio.Reader) (raw []byte, words []string, err error) {
	line, err := readLine(r)
	if err != nil {
		return line, nil, err
	}
	if line[0] != '*' {
		return line, strings.Fields(string(line)), nil
	}
	n, err := length(line)
	if err != nil {
		return line, nil, err
	}
	raw = line
	for range n {
		if line, err = readLine(r); err != nil {
			return append(raw, line...), nil, err
		}
		raw = append(raw, line...)
		if line[0] != '$' {
			return raw, nil, ErrNotRESP
		}
		start := len(raw)
		if raw, err = readBulk(r, line, raw); err != nil {
			return raw, nil, err
		}
		words = append(words, string(raw[start:len(raw)-2]))
	}
	return raw, words, nil
}

// ReadReply reads one raw reply, or a pushed message, which begins with ">" and answers
// no request.
func ReadReply(r *bufio.Reader) (raw []byte, err error) {
	for parts := 1; parts > 0; parts-- {
		line, err := readLine(r)
		raw = append(raw, line...)
		if err != nil {
			return raw, err
		}
		switch line[0] {
		case '+', '-', ':', '_', '#', ',', '(':
		case '$', '!', '=':
			if raw, err = readBulk(r, line, raw); err != nil {
				return raw, err
			}
		case '*', '~', '>', '%', '|':
			n, err := length(line)
			if err != nil {
				return raw, err
			}
			n = max(n, 0)
			if line[0] == '%' || line[0] == '|' {
				n *= 2
			}
			if line[0] == '|' {
				n++ // attributes precede their reply
			}
			parts += n
		default:
			return raw, ErrNotRESP
		}
	}
	return raw, nil
}

// readLine reads a line, and returns it with its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err == nil && (len(line) < 2 || line[len(line)-2] != '\r' && line[0] == '*') {
		err = ErrNotRESP
	}
	return line, err
}

// readBulk appends the string after line, which has its length.
func readBulk(r *bufio.Reader, line, raw []byte) ([]byte, error) {
	n, err := length(line)
	if err != nil || n < 0 {
		return raw, err
	}
	body := make([]byte, n+2)
	for at := 0; at < len(body); {
		k, err := r.Read(body[at:])
		at += k
		if err != nil {
			return append(raw, body[:at]...), err
		}
	}
	return append(raw, body...), nil
}

// length returns the number after the first byte of line; -1: null.
func length(line []byte) (int, error) {
	n, err := strconv.Atoi(string(bytes.TrimRight(line[1:], "\r\n")))
	if err != nil || n < -1 || n > maxBulk {
		return 0, ErrNotRESP
	}
	return n, nil
}

// Encode encodes a request.
func Encode(words ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// isGreeting reports whether a request only prepares a connection.
func isGreeting(words []string) bool {
	return len(words) == 0 || IsOneOf(words[0], "HELLO", "AUTH", "CLIENT", "SELECT", "PING", "ECHO", "COMMAND", "READONLY")
}

// IsOneOf reports whether a command is one of a list.
func IsOneOf(command string, list ...string) bool {
	return slices.Contains(list, strings.ToUpper(command))
}

// Value is a reply, or a part of one.
type Value struct {
	Kind  byte   // the first byte of its line
	Text  string // of a string: its content; else the rest of its line
	bulk  bool   // a string with its length before it
	Parts []Value
}

// ReadValue reads one reply into a value.
func ReadValue(r *bufio.Reader) (v Value, err error) {
	line, err := readLine(r)
	if err != nil {
		return v, err
	}
	v.Kind, v.Text = line[0], strings.TrimRight(string(line[1:]), "\r\n")
	switch v.Kind {
	case '$', '!', '=':
		body, err := readBulk(r, line, nil)
		if err != nil || body == nil { // null
			return v, err
		}
		v.Text, v.bulk = string(body[:len(body)-2]), true
	case '*', '~', '>', '%', '|':
		n, err := length(line)
		if v.Kind == '%' || v.Kind == '|' {
			n *= 2
		}
		if v.Kind == '|' {
			n++ // attributes precede their reply
		}
		for range n {
			part, err := ReadValue(r)
			if err != nil {
				return v, err
			}
			v.Parts = append(v.Parts, part)
		}
		return v, err
	}
	return v, nil
}

// appendTo appends the raw reply to b. The number of parts is the one that was read.
func (v *Value) appendTo(b []byte) []byte {
	switch {
	case v.bulk:
		return fmt.Appendf(b, "%c%s\r\n%s\r\n", v.Kind, strconv.Itoa(len(v.Text)), v.Text)
	default:
		b = fmt.Appendf(b, "%c%s\r\n", v.Kind, v.Text)
	}
	for i := range v.Parts {
		b = v.Parts[i].appendTo(b)
	}
	return b
}
