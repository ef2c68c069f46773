package main

import (
	"github.com/spf13/pflag"

	"github.com/lockcheck/lockcheck/explore"
	"github.com/lockcheck/lockcheck/internal/results"
)

// shardValue is the value of --shard.
type shardValue explore.Shard

// Set reads i/n, for example 2/4.
func (s *shardValue) Set(text string) error {
	shard, err := explore.ParseShard(text)
	*s = shardValue(shard)
	return err
}

// String returns "" if there are no shards.
func (s *shardValue) String() string {
	if s.Of == 0 {
		return ""
	}
	return explore.Shard(*s).String()
}

// Type returns the name of the value in the help.
func (*shardValue) Type() string { return "i/n" }

func shardFlag(fl *pflag.FlagSet, s *explore.Shard) {
	fl.Var((*shardValue)(s), "shard", "do the part `i/n` of it, as 2/4: the second of four (see: lockcheck merge --help)")
}

// leaveShard writes the result of a shard like saveShard, and prints that it is a
// shard.
func (a *app) leaveShard(d *results.Document, failed error) error {
	err := a.saveShard(d, failed)
	if err == nil {
		a.Shard(d.Shards)
	}
	return err
}

// saveShard writes the result of a shard to the directory for output. failed is the
// error that ended it early, or nil.
func (a *app) saveShard(d *results.Document, failed error) error {
	if d.Shards == nil {
		return nil
	}
	if d.Interrupted || failed != nil {
		d.Shards.Interrupt()
	}
	a.Out.TakeEarlier(d, &a.baseline, a.Say)
	d.DecideAfter(failed)
	return a.Out.Leave(d)
}
