package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
	"github.com/lockcheck/lockcheck/internal/stores/redis/model"
)

// Memory pressure evicts the keys that the policy allows.
func TestEvict(t *testing.T) {
	all := []call{
		{0, 1, set("b", "", s)},
		{0, 2, on(redis.SetNX, "c", "")},
		{0, 3, set("a", "", s)},
		{0, 4, set("d", "", ms)},
		{2 * ms, 0, (*model.Server).Evict},
	}
	gone := func(key string, maker int) model.Effect {
		return model.Effect{Kind: model.Evicted, Key: key, Maker: maker}
	}
	for policy, want := range map[model.Policy][]model.Effect{
		model.VolatileLRU: {gone("a", 3), gone("b", 1)},
		model.AllKeys:     {gone("a", 3), gone("b", 1), gone("c", 2)},
		model.NoEviction:  nil,
	} {
		server := model.New(model.Options{Policy: policy})
		play(server, all[:4])
		server.Expire(2 * ms)
		server.Effects()
		if got := play(server, all[4:]); !slices.Equal(got, want) {
			t.Errorf("%v: got %v, want %v", policy, got, want)
		}
		r := server.Apply(2*ms, 5, set("e", "", s))
		if refused := strings.HasPrefix(r.Str, "OOM "); refused != (policy == model.NoEviction) {
			t.Errorf("%v: then a SET returns %+v", policy, r)
		}
		server.Relieve()
		if r := server.Apply(2*ms, 5, set("e", "", s)); r.Kind != redis.Status {
			t.Errorf("%v: after the relief a SET returns %+v", policy, r)
		}
	}
}

// A server of a cluster executes commands on its own keys.
func TestCluster(t *testing.T) {
	cluster := []model.SlotRange{{From: 0, To: 8000, Addr: "a:1"}, {From: 8001, To: 12000, Addr: "b:1"}, {From: 13000, To: 13999, Addr: "a:1"}}
	const own, other, nobodys = "k", "b", "foo" // slots 7629, 3300, 12182
	ok := redis.Reply{Kind: redis.Status, Str: "OK"}
	failure := func(s string) redis.Reply { return redis.Reply{Kind: redis.Error, Str: s} }
	moved := failure("MOVED 8363 b:1")
	for _, c := range []struct {
		do   redis.Command
		want redis.Reply
	}{
		{set(own, "v", s), ok},
		{set("{k}x", "v", s), ok},
		{on(redis.Get, "foo{}{bar}", ""), moved},
		{grant("foo{}{bar}", "v", "{foo{}{bar}}n", s), failure("CROSSSLOT Keys in request don't hash to the same slot")},
		{grant(own, "v", "{k}n", s), redis.Reply{Kind: redis.Int}},
		{grant(own, "v", other, s), failure("CROSSSLOT Keys in request don't hash to the same slot")},
		{on(redis.Get, nobodys, ""), failure("CLUSTERDOWN Hash slot not served")},
		{redis.Command{Verb: redis.Wait, N: 1}, redis.Reply{Kind: redis.Int}},
	} {
		server := model.New(model.Options{Cluster: cluster, Self: 2})
		server.Apply(0, 1, set(own, "w", s))
		if got := server.Apply(0, 2, c.do); got != c.want {
			t.Errorf("%+v: got %+v, want %+v", c.do, got, c.want)
		}
		server.Follow()
		if got := server.Apply(0, 3, on(redis.Get, own, "")); got != failure("MOVED 7629 a:1") {
			t.Errorf("a replica returns %+v", got)
		}
	}
}

// Everything that determines answers is part of the state.
func TestStateContainsReasonsForRefusals(t *testing.T) {
	change := map[string]func(*model.Server){
		"leads":        func(*model.Server) {},
		"follows":      (*model.Server).Follow,
		"lacks memory": func(s *model.Server) { s.Evict(0) },
		"both":         func(s *model.Server) { s.Evict(0); s.Follow() },
	}
	seen := map[string]string{}
	for name, do := range change {
		server := model.New(model.Options{Policy: model.NoEviction})
		do(server)
		state := string(server.AppendState(nil, 0))
		if twin, there := seen[state]; there {
			t.Errorf("a server that %s has the state of one that %s", name, twin)
		}
		seen[state] = name
		server.Relieve()
		server.Lead(0)
		if got := string(server.AppendState(nil, 0)); got != string(model.New(model.Options{}).AppendState(nil, 0)) {
			t.Errorf("a server that no longer %s has the state %q", name, got)
		}
	}
}

// A follower ignores its own memory pressure.
func TestFollowerIgnoresMemory(t *testing.T) {
	server := model.New(model.Options{Policy: model.NoEviction})
	server.Evict(0)
	refused := func(want string) {
		t.Helper()
		if r := server.Apply(0, 1, set("k", "v", s)); !strings.HasPrefix(r.Str, want) {
			t.Errorf("a SET returns %+v, want %s", r, want)
		}
	}
	refused("OOM ")
	server.Follow()
	refused("READONLY ")
	server.Lead(0)
	refused("OOM ")
}
