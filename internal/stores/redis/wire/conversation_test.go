package wire_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the real server's answers to testdata")

// The front end answers each conversation in testdata as the real server did.
func TestConversations(t *testing.T) {
	for _, c := range conversations(t) {
		t.Run(c.name, func(t *testing.T) {
			c.play(t, newFrontEnd())
		})
	}
}

// A real server of version 7.0 gives the same answers. With -update its answers replace
// those in testdata.
func TestConversationsWithARealServer(t *testing.T) {
	s := &server{addr: realServer(t)}
	all := conversations(t)
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			s.begin(t)
			c.play(t, s)
		})
	}
	if *update {
		write(t, all)
	}
}

// conversation is a conversation of some connections with an empty server.
type conversation struct {
	file, name string
	lines      []*line
}

// line is one step. Its text is as in the file: "1: GET k" is a request on connection
// 1, "1~ PTTL k" one whose answer's numbers may differ by 1,000, "1> BLPOP k 0" one whose answer comes later, "1-" awaits a message,
// "sleep 50ms" waits, and "server follow" tells the server something.
type line struct {
	text   string
	answer []string // lines of RESP
}

// side is a server that answers.
type side interface {
	now() time.Time
	sleep(time.Duration)
	tell(t *testing.T, what string)          // "follow", "lead", "full", "relieved"
	send(t *testing.T, conn, request string) // in RESP
	receive(t *testing.T, conn string) string
	idle(t *testing.T) // fails if a message is left
}

func (c *conversation) play(t *testing.T, s side) {
	for _, l := range c.lines {
		first, rest, _ := strings.Cut(l.text, " ")
		switch first {
		case "sleep":
			d, err := time.ParseDuration(rest)
			if err != nil {
				t.Fatal(err)
			}
			s.sleep(d)
			continue
		case "server":
			s.tell(t, rest)
			continue
		}
		conn, how := first[:len(first)-1], first[len(first)-1]
		if rest != "" {
			s.send(t, conn, encode(words(t, rest, s.now())))
		}
		if how == '>' { // the answer comes later
			continue
		}
		got, want := visible(s.receive(t, conn)), l.answer
		same := strings.Join(got, "\n") == strings.Join(want, "\n")
		if how == '~' {
			same = similar(got, want)
		}
		switch {
		case same:
		case *update:
			l.answer = got
		default:
			t.Fatalf("%s: %s\ngot\n\t%s\nwant\n\t%s", c.file, l.text, strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
		}
	}
	s.idle(t)
}

var digits = regexp.MustCompile(`[0-9]+`)

var id = regexp.MustCompile(`\nid\n:[0-9]+`)

// similar reports whether answers are equal but for numbers that differ by at most
// 1,000, and the id of the connection.
func similar(got, want []string) bool {
	a := id.ReplaceAllString(strings.Join(got, "\n"), "")
	b := id.ReplaceAllString(strings.Join(want, "\n"), "")
	x, y := digits.FindAllString(a, -1), digits.FindAllString(b, -1)
	if digits.ReplaceAllString(a, "0") != digits.ReplaceAllString(b, "0") || len(x) != len(y) {
		return false
	}
	for i := range x {
		m, _ := strconv.Atoi(x[i])
		n, _ := strconv.Atoi(y[i])
		if m-n > 1000 || n-m > 1000 {
			return false
		}
	}
	return true
}

// visible returns the lines of an answer, without bytes that break lines.
func visible(answer string) []string {
	lines := strings.Split(strings.TrimSuffix(answer, "\r\n"), "\r\n")
	for i, l := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\x00", `\0`).Replace(l)
	}
	return lines
}

var word = regexp.MustCompile(`"(\\.|[^"\\])*"|\S+`)

// words returns the words of a request: {now+30s} and {now+30000ms} are instants,
// {script name} and {sha name} stand for a file of testdata/scripts and its SHA-1.
func words(t *testing.T, text string, now time.Time) (list []string) {
	t.Helper()
	text = special.ReplaceAllStringFunc(text, func(s string) string {
		m := special.FindStringSubmatch(s)
		if m[1] != "" {
			file, err := os.ReadFile("testdata/scripts/" + m[2] + ".lua")
			if err != nil {
				t.Fatal(err)
			}
			if m[1] == "sha" {
				sum := sha1.Sum(file)
				return hex.EncodeToString(sum[:])
			}
			return strconv.Quote(string(file))
		}
		d, err := time.ParseDuration(m[3])
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(m[3], "ms") {
			return fmt.Sprint(now.Add(d).UnixMilli())
		}
		return fmt.Sprint(now.Add(d).Unix())
	})
	for _, w := range word.FindAllString(text, -1) {
		if w[0] == '"' {
			var err error
			if w, err = strconv.Unquote(w); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		list = append(list, w)
	}
	return list
}

var special = regexp.MustCompile(`\{(?:(script|sha) ([a-z-]+)|now([+-][0-9a-z]+))\}`)

func encode(words []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// message reads one message in RESP.
func message(r *bufio.Reader) (string, error) {
	head, err := r.ReadString('\n')
	if err != nil {
		return head, err
	}
	n, _ := strconv.Atoi(strings.TrimSpace(head[1:]))
	switch head[0] {
	case '$', '=':
		if n < 0 {
			return head, nil
		}
		b := make([]byte, n+2)
		_, err := io.ReadFull(r, b)
		return head + string(b), err
	case '%':
		n *= 2
		fallthrough
	case '*', '>', '~':
		for range n {
			part, err := message(r)
			if err != nil {
				return head, err
			}
			head += part
		}
	}
	return head, nil
}

func conversations(t *testing.T) (all []*conversation) {
	files, err := filepath.Glob("testdata/conversations/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(string(text)) {
			l = strings.TrimSuffix(l, "\n")
			name, heading := strings.CutPrefix(l, "# ")
			answer, answers := strings.CutPrefix(l, "\t")
			switch {
			case l == "":
			case heading:
				all = append(all, &conversation{file: file, name: name})
			case answers:
				last := all[len(all)-1].lines
				last[len(last)-1].answer = append(last[len(last)-1].answer, answer)
			default:
				c := all[len(all)-1]
				c.lines = append(c.lines, &line{text: l})
			}
		}
	}
	return all
}

// write writes the conversations back.
func write(t *testing.T, all []*conversation) {
	files := map[string]string{}
	for _, c := range all {
		text := "# " + c.name + "\n\n"
		if files[c.file] != "" {
			text = "\n" + text
		}
		for _, l := range c.lines {
			text += l.text + "\n"
			for _, a := range l.answer {
				text += "\t" + a + "\n"
			}
		}
		files[c.file] += text
	}
	for name, text := range files {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
