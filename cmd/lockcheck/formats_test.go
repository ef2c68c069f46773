package main

import (
	"os"
	"strings"
	"testing"
)

// The README shows the output of check for a history that Jepsen recorded.
func TestTheReadmeJudgesAHistory(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	r := lockcheck(t, "check", "testdata/etcd.edn")
	r.wants(t, violated)
	want := asShown("$ lockcheck check etcd.edn\n" + strings.ReplaceAll(r.stdout, "testdata/", ""))
	if !strings.Contains(string(readme), want) {
		t.Errorf("the README shows something else, want\n%s", want)
	}
}
