package model

import (
	"fmt"

	"github.com/lockcheck/lockcheck/stores/redis"
)

// The errors of a server that does not execute a command, as it words them.
const (
	errReadOnly    = "READONLY You can't write against a read only replica."
	errReplicaWait = "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated."
	errMemory      = "OOM command not allowed when used memory > 'maxmemory'."
	errCrossSlot   = "CROSSSLOT Keys in request don't hash to the same slot"
	errUnserved    = "CLUSTERDOWN Hash slot not served"
)

// SlotRange is a part of a cluster's keys, those of the slots From to To, both
// included, and the address of the server that answers for them.
type SlotRange struct {
	From, To int
	Addr     string
}

// traits is what a server looks at before it executes a command. Those of a
// script are those of the first command in it that a server may refuse:
// CompareAndDelete and Extend write only when they have found their value.
type traits struct {
	keyless bool
	writes  bool
	grows   bool // needs memory (denyoom, in the server's table of commands)
}

var traitsOf = [...]traits{
	redis.Set:     {writes: true, grows: true},
	redis.SetNX:   {writes: true, grows: true},
	redis.GetSet:  {writes: true, grows: true},
	redis.PExpire: {writes: true},
	redis.Del:     {writes: true},
	redis.Incr:    {writes: true, grows: true},
	redis.RPush:   {writes: true, grows: true},
	redis.Wait:    {keyless: true},
	redis.Grant:   {writes: true, grows: true},
	redis.Claim:   {writes: true, grows: true},
	redis.Replace: {writes: true, grows: true},
}

// refuse answers c where this server does not execute it, in the order in
// which Redis looks: the cluster, the memory, the role.
func (s *Server) refuse(c *redis.Command) (redis.Reply, bool) {
	var t traits
	if int(c.Verb) < len(traitsOf) {
		t = traitsOf[c.Verb]
	}
	if len(s.options.Cluster) > 0 && !t.keyless {
		if r, elsewhere := s.redirect(c); elsewhere {
			return r, true
		}
	}
	switch {
	case s.pressed && !s.follower && t.grows: // a replica keeps no limit of its own
		return failure(errMemory), true
	case s.follower && t.writes:
		return failure(errReadOnly), true
	case s.follower && c.Verb == redis.Wait:
		return failure(errReplicaWait), true
	}
	return redis.Reply{}, false
}

// redirect answers c where the cluster has its keys elsewhere. A follower sends
// on even reads, to the leader whose keys it has: it would answer them only to
// who has asked it to, with READONLY.
func (s *Server) redirect(c *redis.Command) (redis.Reply, bool) {
	slot := redis.Slot(c.Key)
	addr, served := s.serving(slot)
	switch {
	case !served:
		return failure(errUnserved), true
	case c.Counter != "" && redis.Slot(c.Counter) != slot:
		return failure(errCrossSlot), true
	case s.follower, addr != s.options.Cluster[s.options.Self].Addr:
		return failure(fmt.Sprintf("MOVED %d %s", slot, addr)), true
	}
	return redis.Reply{}, false
}

// serving is the address of the server that answers for slot.
func (s *Server) serving(slot int) (addr string, ok bool) {
	for _, r := range s.options.Cluster {
		if r.From <= slot && slot <= r.To {
			return r.Addr, true
		}
	}
	return "", false
}
