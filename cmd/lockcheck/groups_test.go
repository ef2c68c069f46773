package main

import (
	"strings"
	"testing"
)

// The help shows the purpose of each command, within the width of a screen.
func TestTheHelpGroupsAllCommands(t *testing.T) {
	r := lockcheck(t, "--help")
	r.wants(t, held, "Learn how locks break:", "Look for violations:", "Keep a lock safe in CI:", "The rest:")
	for _, c := range newApp(nil, nil, nil).root().Commands() {
		lockcheck(t, c.Name(), "--help").wants(t, held, "Usage:")
		if c.GroupID == "" && !c.Hidden {
			t.Errorf("%s is in no group", c.Name())
		}
	}
	if strings.Contains(r.stdout, "Additional Commands") {
		t.Error("some are left over")
	}
}
