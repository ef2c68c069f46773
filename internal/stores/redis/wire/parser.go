package wire

import (
	"bytes"
	"errors"
	"math"
	"strings"
)

// These are the limits of a request, as in Redis.
const (
	mostWords  = math.MaxInt32
	mostBytes  = 512 << 20 // of a word
	mostInline = 64 << 10  // of a request without RESP, and of a line of a header
)

// Parser cuts a client's bytes into requests. The zero Parser is ready.
type Parser struct {
	buf []byte
	at  int // where the next request begins
}

// Feed adds bytes that the client sent.
func (p *Parser) Feed(b []byte) {
	if p.at > 0 {
		p.buf = p.buf[:copy(p.buf, p.buf[p.at:])]
		p.at = 0
	}
	p.buf = append(p.buf, b...)
}

// Next returns the next request. ok is false if it is not complete yet. An error is a
// breach of the protocol: its text is the server's answer without the minus sign, and
// the server then closes the connection.
func (p *Parser) Next() (words []string, ok bool, err error) {
	for {
		rest := p.buf[p.at:]
		if len(rest) == 0 {
			return nil, false, nil
		}
		var size int
		if rest[0] == '*' {
			words, size, err = request(rest)
		} else {
			words, size, err = inline(rest)
		}
		if err != nil || size == 0 {
			return nil, false, err
		}
		p.at += size
		if len(words) > 0 { // Redis ignores empty requests
			return words, true, nil
		}
	}
}

// request reads a request in RESP at the start of b. size is its length in bytes, 0 if
// it is not complete.
func request(b []byte) (words []string, size int, err error) {
	count, size, err := header(b, "multibulk", mostWords)
	if err != nil || size == 0 {
		return nil, 0, err
	}
	// First find the end. Then all words share one string.
	end := size
	for range count {
		length, n, err := header(b[end:], "bulk", mostBytes)
		switch {
		case err != nil:
			return nil, 0, err
		case n == 0:
			return nil, 0, nil
		case length < 0:
			return nil, 0, errors.New("ERR Protocol error: invalid bulk length")
		case len(b)-end-n < length+2:
			return nil, 0, nil
		}
		end += n + length + 2
	}
	if count <= 0 {
		return nil, size, nil
	}
	text := string(b[:end])
	words = make([]string, count)
	for i := range words {
		length, n, _ := header(b[size:], "bulk", mostBytes)
		words[i] = text[size+n : size+n+length]
		size += n + length + 2
	}
	return words, end, nil
}

// header reads a line such as "$3" at the start of b. size is its length, 0 if it is
// not complete.
func header(b []byte, what string, most int) (n, size int, err error) {
	if len(b) == 0 {
		return 0, 0, nil
	}
	end := bytes.IndexByte(b, '\r')
	switch {
	case end < 0 && len(b) > mostInline:
		if what == "bulk" {
			return 0, 0, errors.New("ERR Protocol error: too big bulk count string")
		}
		return 0, 0, errors.New("ERR Protocol error: too big mbulk count string")
	case end < 0 || end+1 >= len(b):
		return 0, 0, nil
	case what == "bulk" && b[0] != '$':
		return 0, 0, errors.New("ERR Protocol error: expected '$', got '" + string(b[:1]) + "'")
	}
	n, ok := number(b[1:end])
	if !ok || n > most {
		return 0, 0, errors.New("ERR Protocol error: invalid " + what + " length")
	}
	return n, end + 2, nil
}

// number reads a length. The usual short ones need no conversion to a string.
func number(digits []byte) (n int, ok bool) {
	if len(digits) == 1 && '0' <= digits[0] && digits[0] <= '9' {
		return int(digits[0] - '0'), true
	}
	long, ok := parseInt(string(digits))
	return int(long), ok
}

// inline reads a request of words on one line, as a person types it.
func inline(b []byte) (words []string, size int, err error) {
	end := bytes.IndexByte(b, '\n')
	switch {
	case end < 0 && len(b) > mostInline:
		return nil, 0, errors.New("ERR Protocol error: too big inline request")
	case end < 0:
		return nil, 0, nil
	}
	return strings.Fields(string(b[:end])), end + 1, nil
}
