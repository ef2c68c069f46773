package report

import (
	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// renewedAfterAnother has a client that renews its lease after another client held.
func renewedAfterAnother() (*history.History, []checker.Verdict) {
	r := newRun("redis-watchdog-blind")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(1000).fault("pause", 1, "", 0, "c1")
	r.at(10_001).server(history.Expire, "c1", "")
	r.at(11_000).acquire("c2", 0, 21_000)
	r.at(13_000).releases("c2")
	r.at(15_000).heal("pause", 1, "c1")
	r.at(15_010).renews("c1", 25_000)
	r.at(18_000).refused("c1")
	return judged(r, checker.Answers)
}

// releasedByNobody has a release that is ok but removes nothing; the entry expires.
func releasedByNobody() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(1000).invoke("c1", history.Release)
	r.at(1002).end("c1", history.Release, history.OK, "")
	r.at(10_001).server(history.Expire, "c1", "")
	return judged(r, checker.Answers)
}
