package clients

import (
	"bufio"
	"bytes"
	"net"
	"regexp"
	"slices"
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
	v, err := ReadValue(r)
	if err != nil {
		return raw
	}
	a.change(&v)
	return v.appendTo(make([]byte, 0, len(raw)))
}

// change replaces the addresses in a value. A host and its port follow each other in an
// array, or with the name of the port between them, as in the fields of a server.
func (a announced) change(v *Value) {
	if v.Parts == nil {
		v.Text = a.rewriteText(v.Text)
		return
	}
	for i := range v.Parts {
		a.change(&v.Parts[i])
		port := i + 1
		if port+1 < len(v.Parts) && (v.Parts[port].Text == "port" || v.Parts[port].Text == "master-port") {
			port++
		}
		if port >= len(v.Parts) {
			continue
		}
		if to, ok := a.link(v.Parts[i].Text, v.Parts[port].Text); ok {
			v.Parts[i].Text, v.Parts[port].Text = to[0], to[1]
		}
	}
}
