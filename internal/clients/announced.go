package clients

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// announced are the addresses by which servers know each other, with the links that lead
// to them. Sentinels announce these addresses, and a client that used them would bypass
// the links. Both are host:port. The zero value rewrites nothing.
type announced struct {
	links map[string]string
	// text finds a host with its port in a text: "10.0.0.2:6379", "10.0.0.2 6379" in
	// +switch-master, "ip=10.0.0.2,port=6379" and the lines of a replica in INFO.
	text *regexp.Regexp
}

func newAnnounced(links map[string]string) announced {
	if len(links) == 0 {
		return announced{}
	}
	var hosts []string
	for at := range links {
		host, _, _ := net.SplitHostPort(at)
		hosts = append(hosts, regexp.QuoteMeta(host))
	}
	slices.Sort(hosts) // one order, for one expression
	return announced{links, regexp.MustCompile(`(^|[^0-9.])(` + strings.Join(hosts, "|") + `)(:| |,port=|\r?\nmaster_port:)([0-9]+)`)}
}

// link returns the host and the port of the link to a server.
func (a announced) link(host, port string) (to [2]string, ok bool) {
	at, ok := a.links[net.JoinHostPort(host, port)]
	if ok {
		to[0], to[1], _ = net.SplitHostPort(at)
	}
	return to, ok
}

// rewriteText replaces the addresses in a text.
func (a announced) rewriteText(text string) string {
	return a.text.ReplaceAllStringFunc(text, func(found string) string {
		part := a.text.FindStringSubmatch(found)
		to, ok := a.link(part[2], part[4])
		if !ok {
			return found
		}
		return part[1] + to[0] + part[3] + to[1]
	})
}

// rewrite replaces the addresses in a raw reply. It returns the reply as it is if that is
// not RESP.
func (a announced) rewrite(raw []byte) []byte {
	if a.links == nil {
		return raw
	}
	r := bufio.NewReader(bytes.NewReader(raw))
	v, err := readValue(r)
	if err != nil {
		return raw
	}
	a.change(&v)
	return v.appendTo(make([]byte, 0, len(raw)))
}

// change replaces the addresses in a value. A host and its port follow each other in an
// array, or with the name of the port between them, as in the fields of a server.
func (a announced) change(v *value) {
	if v.parts == nil {
		v.text = a.rewriteText(v.text)
		return
	}
	for i := range v.parts {
		a.change(&v.parts[i])
		port := i + 1
		if port+1 < len(v.parts) && (v.parts[port].text == "port" || v.parts[port].text == "master-port") {
			port++
		}
		if port >= len(v.parts) {
			continue
		}
		if to, ok := a.link(v.parts[i].text, v.parts[port].text); ok {
			v.parts[i].text, v.parts[port].text = to[0], to[1]
		}
	}
}

// value is a reply, or a part of one.
type value struct {
	kind  byte   // the first byte of its line
	text  string // of a string: its content; else the rest of its line
	bulk  bool   // a string with its length before it
	parts []value
}

// readValue reads one reply into a value.
func readValue(r *bufio.Reader) (v value, err error) {
	line, err := readLine(r)
	if err != nil {
		return v, err
	}
	v.kind, v.text = line[0], strings.TrimRight(string(line[1:]), "\r\n")
	switch v.kind {
	case '$', '!', '=':
		body, err := readBulk(r, line, nil)
		if err != nil || body == nil { // null
			return v, err
		}
		v.text, v.bulk = string(body[:len(body)-2]), true
	case '*', '~', '>', '%', '|':
		n, err := length(line)
		if v.kind == '%' || v.kind == '|' {
			n *= 2
		}
		if v.kind == '|' {
			n++ // attributes precede their reply
		}
		for range n {
			part, err := readValue(r)
			if err != nil {
				return v, err
			}
			v.parts = append(v.parts, part)
		}
		return v, err
	}
	return v, nil
}

// appendTo appends the raw reply to b. The number of parts is the one that was read.
func (v *value) appendTo(b []byte) []byte {
	switch {
	case v.bulk:
		return fmt.Appendf(b, "%c%s\r\n%s\r\n", v.kind, strconv.Itoa(len(v.text)), v.text)
	default:
		b = fmt.Appendf(b, "%c%s\r\n", v.kind, v.text)
	}
	for i := range v.parts {
		b = v.parts[i].appendTo(b)
	}
	return b
}
