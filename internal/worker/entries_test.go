package worker

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

// The answer to init declares entries of the servers that the worker has.
func TestEntries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kind, entries, want string }{
		{TargetRedis, `[{"redis":"lock:{name}"},{"redis":"queue:{name}"}]`, ""},
		{TargetZooKeeper, `[{"zookeeper":"/locks/{name}"}]`, ""},
		{TargetMySQL, `[{"mysql":{"table":"locks","key":"name","owner":"who"}}]`, ""},
		{TargetMySQL, `[{"mysql":"get_lock","name":"{name}"}]`, ""},
		{TargetRedis, `[{"redis":"lock"}]`, "does not contain {name}"},
		{TargetRedis, `[{}]`, "one of redis, zookeeper and mysql"},
		{TargetRedis, `[{"redis":"{name}","zookeeper":"/{name}"}]`, "one of redis, zookeeper and mysql"},
		{TargetRedis, `[{"zookeeper":"/{name}"}]`, "of zookeeper, and the servers of the worker are of redis"},
		{TargetMySQL, `[{"mysql":"get_locks"}]`, `mysql "get_locks"`},
		{TargetMySQL, `[{"mysql":"get_lock"}]`, "does not contain {name}"},
		{TargetMySQL, `[{"mysql":{"table":"a b","key":"k","owner":"o"}}]`, "letters, digits and _"},
		{TargetMySQL, `[{"mysql":{"table":"t"}}]`, "it needs a table, a key and an owner"},
		{TargetMySQL, `[{"mysql":{"table":"t","key":"k","owner":"o"},"name":"{name}"}]`, "has no name"},
	} {
		var entries []Entry
		err := json.Unmarshal([]byte(tt.entries), &entries)
		if err == nil {
			err = CheckEntries(entries, tt.kind)
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.entries, err, tt.want)
		}
	}
	got := Names([]Entry{{Redis: "lock:{name}"}, {Redis: "{name}/queue"}, {MySQL: &MySQLEntry{GetLock: true}, Name: "my-{name}"}}, []string{"a", "b"})
	want := map[string]string{"lock:a": "a", "lock:b": "b", "a/queue": "a", "b/queue": "b", "my-a": "a", "my-b": "b"}
	if !maps.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
}
