package model

import (
	"fmt"

	"github.com/lockcheck/lockcheck/internal/stores/redis"
)

// These are the errors of a server that refuses a command, word for word.
const (
	errReadOnly    = "READONLY You can't write against a read only replica."
	errReplicaWait = "ERR WAIT cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is configured to be writable (which is not the default) writes to replicas are just local and are not propagated."
	errMemory      = "OOM command not allowed when used memory > 'maxmemory'."
	errCrossSlot   = "CROSSSLOT Keys in request don't hash to the same slot"
	errUnserved    = "CLUSTERDOWN Hash slot not served"
)

// SlotRange is a part of a cluster's keys, the slots From to To, inclusive, and
// the address of the server that has them.
type SlotRange struct {
	From, To int
	Addr     string
}

// traits are the properties that a server checks before it executes a command. A
// script has those of its first command that a server may refuse:
// CompareAndDelete and Extend write only after they have found their value.
type traits struct {
	keyless bool
	writes  bool
	grows   bool // needs memory (denyoom in the server's command table)
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

	redis.Time:     {keyless: true},
	redis.Persist:  {writes: true},
	redis.IncrBy:   {writes: true, grows: true},
	redis.HSet:     {writes: true, grows: true},
	redis.HDel:     {writes: true},
	redis.HIncrBy:  {writes: true, grows: true},
	redis.Store:    {writes: true}, // what needs memory has asked MayGrow before
	redis.MayWrite: {writes: true},
	redis.MayGrow:  {writes: true, grows: true},
}

// refuse returns the refusal of c, if this server refuses it. It checks in Redis'
// order: the cluster, the memory, the role.
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
	case s.pressed && !s.follower && t.grows: // a replica has no limit of its own
		return failure(errMemory), true
	case s.follower && t.writes:
		return failure(errReadOnly), true
	case s.follower && c.Verb == redis.Wait:
		return failure(errReplicaWait), true
	}
	return redis.Reply{}, false
}

// redirect returns the refusal of c if another server of the cluster has its
// keys. A follower redirects even reads to its leader: it would answer them only
// after READONLY, which is not supported.
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

// serving returns the address of the server that has slot.
func (s *Server) serving(slot int) (addr string, ok bool) {
	for _, r := range s.options.Cluster {
		if r.From <= slot && slot <= r.To {
			return r.Addr, true
		}
	}
	return "", false
}
