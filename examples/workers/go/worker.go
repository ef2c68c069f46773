// A lockcheck worker: one client of a lock on Redis, SET NX PX. A release is a script that
// compares and deletes. Go with the standard library only.
//
//	go build -o worker . && lockcheck run --on docker --worker ./worker
package main

import (
	"bufio"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

const release = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end"

type request struct {
	ID        int64
	Op, Lock  string
	TTL       int64               `json:"ttl_ms"`
	Timeout   int64               `json:"timeout_ms"`
	Value     int64               // of a write, and of the resource's answer to a read
	Error     string              // of the resource's answer
	Addresses map[string][]string `json:"targets"`
}

type fields map[string]any

// definite is an error of an operation that certainly did not happen: a word of the protocol.
type definite string

func (d definite) Error() string { return string(d) }

// ms is the unit of times in the protocol.
const ms = time.Millisecond

var (
	in      = bufio.NewScanner(os.Stdin)
	out     = json.NewEncoder(os.Stdout) // one object a line
	began   = time.Now()                 // the monotonic clock begins here
	values  = map[string]string{}        // by lock: what our acquire wrote
	ttl     time.Duration
	server  string
	conn    net.Conn // nil: not connected
	replies *bufio.Reader
)

// call sends one command and returns its reply. After an error that is not definite the
// server may have executed the command.
func call(words ...string) (reply string, err error) {
	if conn == nil {
		if conn, err = net.DialTimeout("tcp", server, ttl/4); err != nil {
			conn = nil
			return "", definite("unavailable")
		}
		replies = bufio.NewReader(conn)
		// Something may accept connections for a server that is down.
		if _, err := exchange("PING"); err != nil {
			return "", definite("unavailable")
		}
	}
	return exchange(words...)
}

func exchange(words ...string) (string, error) {
	conn.SetDeadline(time.Now().Add(ttl / 4))
	command := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		command += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	_, err := conn.Write([]byte(command))
	reply := ""
	if err == nil {
		reply, err = replies.ReadString('\n') // no reply here has a second line
	}
	switch {
	case err != nil:
		conn.Close() // an answer that comes late must not be taken for another's
		conn = nil
	case reply[0] == '-':
		return "", definite("unavailable") // an error of the server's: nothing was done
	}
	return strings.TrimSpace(reply), err
}

// perform performs a request, and returns the rest of its answer.
func perform(q request) (fields, error) {
	switch q.Op {
	case "init":
		ttl, server = time.Duration(q.TTL)*ms, q.Addresses["redis"][0]
		return fields{"name": "go", "features": []string{"deadline", "clock"}, "entries": []fields{{"redis": "{name}"}}}, nil
	case "clock":
		return fields{"mono_ns": time.Since(began)}, nil
	case "acquire":
		return acquire(q)
	case "release":
		if reply, err := call("EVAL", release, "1", q.Lock, values[q.Lock]); err != nil {
			return nil, err
		} else if reply != ":1" {
			return nil, definite("not-held")
		}
		return nil, nil
	case "read", "write":
		return access(q)
	}
	return nil, definite("unsupported")
}

func acquire(q request) (fields, error) {
	value, end := rand.Text(), time.Now().Add(time.Duration(q.Timeout)*ms)
	for {
		asked := time.Since(began) // the lease cannot have begun earlier
		reply, err := call("SET", q.Lock, value, "NX", "PX", fmt.Sprint(ttl.Milliseconds()))
		switch {
		case err != nil:
			return nil, err
		case reply == "+OK":
			values[q.Lock] = value
			return fields{"valid_ms": ttl.Milliseconds(), "mono_ns": asked}, nil
		case time.Now().Add(ttl / 50).After(end):
			return nil, definite("held")
		}
		time.Sleep(ttl / 50)
	}
}

// access asks the harness, where the guarded resource lives, from here.
func access(q request) (fields, error) {
	out.Encode(fields{"id": q.ID, "do": "resource." + q.Op, "value": q.Value})
	var a request
	if !in.Scan() || json.Unmarshal(in.Bytes(), &a) != nil {
		return nil, errors.New("no answer")
	}
	if a.Error != "" {
		return nil, definite(a.Error)
	}
	return fields{"value": a.Value}, nil
}

func main() {
	for in.Scan() { // it ends when the harness has ended
		var q request
		if json.Unmarshal(in.Bytes(), &q) != nil {
			continue
		}
		answer, err := perform(q)
		if answer == nil {
			answer = fields{}
		}
		answer["id"], answer["ok"] = q.ID, err == nil
		if word, ok := errors.AsType[definite](err); ok {
			answer["error"] = word
		} else if err != nil { // without an answer nobody knows what happened
			answer["error"], answer["text"] = "unknown", err.Error()
		}
		out.Encode(answer)
	}
}
