package worker

import (
	"slices"
	"strings"
	"testing"
)

func TestNodes(t *testing.T) {
	t.Parallel()
	nodes, err := nodesOf(map[string][]string{"redis": {"127.0.0.1:1", "127.0.0.1:2"}})
	if err != nil || len(nodes) != 2 || nodes[1].Addr != "127.0.0.1:2" {
		t.Errorf("%+v, %v", nodes, err)
	}
	nodes, err = nodesOf(map[string][]string{
		"redis": {"127.0.0.1:1", "127.0.0.1:2"}, "sentinels": {"127.0.0.1:3"}, "masters": {"redis-1", "redis-2"},
	})
	if err != nil || len(nodes) != 2 || nodes[1].Master != "redis-2" || !slices.Equal(nodes[1].Sentinels, []string{"127.0.0.1:3"}) {
		t.Errorf("%+v, %v", nodes, err)
	}
	for want, targets := range map[string]map[string][]string{
		"needs a server of kind redis": {},
		"needs some of kind sentinels": {"redis": {"a"}, "masters": {"m"}},
	} {
		if _, err := nodesOf(targets); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", targets, err, want)
		}
	}
}

// A lock needs its servers, and the server of its tokens.
func TestLocksNeedTheirServers(t *testing.T) {
	t.Parallel()
	for want, options := range map[string]map[string]any{
		"kind tokens":    {"lock": "redis-set-lua", "token=own": true},
		"kind zookeeper": {"lock": "zk-recipe"},
		"kind mysql":     {"lock": "mysql-fair"},
	} {
		s := Setup{Init: Request{TTLMS: 1000, Options: options, Targets: map[string][]string{"redis": {"127.0.0.1:1"}}}}
		if _, _, err := Catalogue(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", options, err, want)
		}
	}
}
