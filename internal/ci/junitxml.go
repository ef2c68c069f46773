package ci

import (
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/lockcheck/lockcheck/internal/results"
)

// The elements and attributes of JUnit, in the order of its schemas. Times are in
// seconds. The date is left out, so that the same document gives the same file.
type (
	xmlSuites struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		xmlCounts
		Suites []*xmlSuite `xml:"testsuite"`
	}
	xmlSuite struct {
		Name string `xml:"name,attr"`
		xmlCounts
		Properties *xmlProperties `xml:"properties"`
		Tests      []*xmlTest     `xml:"testcase"`
	}
	xmlCounts struct {
		Tests    int     `xml:"tests,attr"`
		Failures int     `xml:"failures,attr"`
		Errors   int     `xml:"errors,attr"`
		Skipped  int     `xml:"skipped,attr"`
		Time     seconds `xml:"time,attr"`
	}
	xmlTest struct {
		Class      string         `xml:"classname,attr"`
		Name       string         `xml:"name,attr"`
		Time       seconds        `xml:"time,attr"`
		Properties *xmlProperties `xml:"properties"`
		Skipped    *xmlSkipped    `xml:"skipped"`
		Error      *xmlTrouble    `xml:"error"`
		Failure    *xmlTrouble    `xml:"failure"`
	}
	xmlProperties struct {
		List []xmlProperty `xml:"property"`
	}
	xmlProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	xmlSkipped struct {
		Message string `xml:"message,attr"`
	}
	xmlTrouble struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
)

// seconds has a decimal point and three digits, never an exponent.
type seconds float64

func (s seconds) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%.3f", float64(s)), nil }

// test adds a test to the suite.
func (s *xmlSuite) test(t *xmlTest) {
	s.Tests = append(s.Tests, t)
	one := xmlCounts{Tests: 1, Time: t.Time}
	switch {
	case t.Failure != nil:
		one.Failures = 1
	case t.Error != nil:
		one.Errors = 1
	case t.Skipped != nil:
		one.Skipped = 1
	}
	s.add(&one)
}

func (c *xmlCounts) add(o *xmlCounts) {
	c.Tests += o.Tests
	c.Failures += o.Failures
	c.Errors += o.Errors
	c.Skipped += o.Skipped
	c.Time += o.Time
}

// set adds a property unless its value is empty.
func (p *xmlProperties) set(name, value string) {
	if value != "" {
		p.List = append(p.List, xmlProperty{name, clean(value)})
	}
}

// newTrouble returns a failure or error. Its message is the first line of the
// description, its text is the rest.
func newTrouble(v results.Verdict, words, text string) *xmlTrouble {
	message, _, _ := strings.Cut(words, "\n")
	return &xmlTrouble{Message: clean(message), Type: string(v), Text: clean(text)}
}

// clean replaces characters that XML 1.0 cannot contain.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r', r >= 0x20 && r < 0xFFFE, r >= 0x10000:
			return r
		}
		return '�'
	}, strings.ToValidUTF8(s, "�"))
}
