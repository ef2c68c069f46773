package docker

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// errNotRESP reports data that is not RESP: Redis's protocol, version 2 or 3.
var errNotRESP = errors.New("not the protocol of Redis")

// maxBulk is the largest string of the protocol, in bytes, as in the server.
const maxBulk = 512 << 20

// readRequest reads one request, an array of strings or an inline command, and returns
// its raw bytes and its words. With errNotRESP raw has the bytes that were read.
func readRequest(r *bufio.Reader) (raw []byte, words []string, err error) {
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
			return raw, nil, errNotRESP
		}
		start := len(raw)
		if raw, err = readBulk(r, line, raw); err != nil {
			return raw, nil, err
		}
		words = append(words, string(raw[start:len(raw)-2]))
	}
	return raw, words, nil
}

// readReply reads one raw reply, or a pushed message, which begins with ">" and answers
// no request.
func readReply(r *bufio.Reader) (raw []byte, err error) {
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
			return raw, errNotRESP
		}
	}
	return raw, nil
}

// readLine reads a line, and returns it with its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadBytes('\n')
	if err == nil && (len(line) < 2 || line[len(line)-2] != '\r' && line[0] == '*') {
		err = errNotRESP
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
		return 0, errNotRESP
	}
	return n, nil
}

// encode encodes a request.
func encode(words ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(words))
	for _, w := range words {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// isGreeting reports whether a request only prepares a connection.
func isGreeting(words []string) bool {
	return len(words) == 0 || isOneOf(words[0], "HELLO", "AUTH", "CLIENT", "SELECT", "PING", "ECHO", "COMMAND", "READONLY")
}

func isOneOf(command string, list ...string) bool {
	return slices.Contains(list, strings.ToUpper(command))
}

// runsScript reports whether a request may execute several commands.
func runsScript(words []string) bool {
	return len(words) > 0 && isOneOf(words[0], "EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO")
}

// request is one request on its way.
type request struct {
	words []string
	op    int64         // index of the operation's invoke; 0: none
	seen  chan struct{} // closed when the server's feed has shown it
}

func (q *request) kind() messageKind {
	if q != nil && isGreeting(q.words) {
		return kindLibrary
	}
	return kindEffect
}
