package wire

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

type Apply func(redis.Command) redis.Reply
type Server struct{ missing string }
type Conn struct{}
type Parser struct{ b []byte }

func (p *Parser) Feed(b []byte) { p.b = append(p.b, b...) }
func (p *Parser) line(at int) (string, int, bool) {
	i := bytes.Index(p.b[at:], []byte("\r\n"))
	if i < 0 {
		return "", 0, false
	}
	return string(p.b[at : at+i]), at + i + 2, true
}
func (p *Parser) Next() ([]string, bool, error) {
	l, at, ok := p.line(0)
	if !ok {
		return nil, false, nil
	}
	n, _ := strconv.Atoi(l[1:])
	var words []string
	for range n {
		l, a, ok := p.line(at)
		if !ok {
			return nil, false, nil
		}
		k, _ := strconv.Atoi(l[1:])
		if len(p.b) < a+k+2 {
			return nil, false, nil
		}
		words = append(words, string(p.b[a:a+k]))
		at = a + k + 2
	}
	p.b = p.b[at:]
	return words, true, nil
}
func IsHandshake(w []string) bool { n := strings.ToUpper(w[0]); return n == "HELLO" || n == "CLIENT" }
func (s *Server) Restart()        {}
func (s *Server) Missing() string { return s.missing }
func (s *Server) Do(c *Conn, apply Apply, w []string) []byte {
	var r redis.Reply
	switch strings.ToUpper(w[0]) {
	case "SET":
		cmd := redis.Command{Verb: redis.Set, Key: w[1], Value: w[2]}
		for i := 3; i < len(w); i++ {
			switch strings.ToUpper(w[i]) {
			case "NX":
				cmd.NX = true
			case "PX":
				n, _ := strconv.Atoi(w[i+1])
				cmd.TTL = time.Duration(n) * time.Millisecond
				i++
			case "EX":
				n, _ := strconv.Atoi(w[i+1])
				cmd.TTL = time.Duration(n) * time.Second
				i++
			}
		}
		r = apply(cmd)
	case "GET":
		r = apply(redis.Command{Verb: redis.Get, Key: w[1]})
	case "DEL":
		r = apply(redis.Command{Verb: redis.Del, Key: w[1]})
	case "CAD":
		r = apply(redis.Command{Verb: redis.CompareAndDelete, Key: w[1], Value: w[2]})
	default:
		return []byte("-ERR unknown command '" + w[0] + "'\r\n")
	}
	switch r.Kind {
	case redis.Status:
		return []byte("+" + r.Str + "\r\n")
	case redis.Int:
		return []byte(fmt.Sprintf(":%d\r\n", r.Int))
	case redis.Bulk:
		return []byte(fmt.Sprintf("$%d\r\n%s\r\n", len(r.Str), r.Str))
	case redis.Error:
		return []byte("-" + r.Str + "\r\n")
	}
	return []byte("$-1\r\n")
}
