package results

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/checker"
)

// What only the merged result has violated is not lost where its shards count,
// which were done again since.
func TestAViolationThatOnlyTheMergedResultHasIsNotLost(t *testing.T) {
	_, shards, err := Choose(sources(shard(1), shard(2)))
	if err != nil {
		t.Fatal(err)
	}
	broken := shard(2)
	violate(broken, checker.Exclusion)
	broken.Decide()
	merged := Merge([]*Document{shard(1), broken}, shards)
	const want = "0/result.json was merged from shards that are here, and has a violation that they do not have: exclusion in cell. Name only those that count"
	for _, tt := range []struct {
		name string
		docs []*Document
		want string
	}{
		{"the shards have none", []*Document{merged, shard(1), shard(2)}, want},
		{"a shard has it, too", []*Document{merged, shard(1), broken}, ""},
		{"none has one", []*Document{Merge([]*Document{shard(1), shard(2)}, shards), shard(1), shard(2)}, ""},
		{"it counts itself", []*Document{merged}, ""},
		{"it counts, with the shards that it lacks", []*Document{merged, shard(3), shard(4)}, ""},
	} {
		got := ""
		if _, _, err := Choose(sources(tt.docs...)); err != nil {
			got = filepath.ToSlash(err.Error())
		}
		if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
