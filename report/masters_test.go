package report

import (
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// The judge decides which properties these histories violate.

func failoverLostEntry() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(500).fault("failover", 1, "", 0, "redis-1")
	r.at(700).invoke("c2", history.Acquire)
	r.at(4000).promotes("redis-1b", "redis-1")
	r.server(history.Lose, "c1", "")
	r.at(4100).grants("c2", 0, 14_090)
	r.at(4500).writes("c2", 0, 1, 0)
	r.at(6000).heal("failover", 1, "redis-1")
	r.at(6500).writes("c1", 0, 2, 1)
	r.at(7000).releases("c2")
	r.at(7100).refused("c1")
	return judged(r)
}

func splitBrain() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(0).fault("partition-servers", 1, "", 0, "redis-1", "sentinel-1")
	r.at(3000).promotes("redis-1b", "redis-1")
	r.on("redis-1").at(4000).acquire("c1", 0, 13_995)
	r.on("redis-1b").at(4500).acquire("c2", 0, 14_495)
	r.at(6000).releases("c2")
	r.at(8000).heal("partition-servers", 1, "redis-1", "sentinel-1")
	r.on("redis-1").at(9500).server(history.Lose, "c1", "") // the time at which it learns of it
	r.at(9600).refused("c1")
	return judged(r)
}

func removalLost() (*history.History, []checker.Verdict) {
	r := newRun("redis-setnx")
	r.at(2).acquire("c1", 0, 0)
	r.at(500).releases("c1")
	r.at(501).fault("failover", 1, "", 0, "redis-1")
	r.at(1000).invoke("c2", history.Acquire)
	r.at(4000).promotes("redis-1b", "redis-1")
	r.server(history.Granted, "c1", "")
	r.at(6000).heal("failover", 1, "redis-1")
	r.at(40_000).end("c2", history.Acquire, history.Fail, history.ErrHeld)
	return judged(r, checker.Liveness)
}

func answerUndone() (*history.History, []checker.Verdict) {
	h, _ := removalLost()
	return h, only(checker.Judge(h), checker.Answers)
}

func eviction() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(2000).fault("evict", 1, "", 0, "redis-1")
	r.server(history.Lose, "c1", "")
	r.at(3100).grants("c2", 0, 13_095)
	r.at(4000).heal("evict", 1, "redis-1")
	r.at(5000).releases("c2")
	r.at(6000).refused("c1")
	return judged(r)
}

func removedByAnOperator() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(2000).fault("entry-lost", 1, "", 0, "redis-1")
	r.server(history.Remove, "c1", "")
	r.at(3100).grants("c2", 0, 13_095)
	r.at(5000).releases("c2")
	r.at(6000).refused("c1")
	return judged(r)
}

func changedByAnOperator() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(2000).fault("entry-changed", 1, "", 0, "redis-1")
	r.server(history.Takeover, "c1", "")
	r.at(3000).refused("c1")
	r.at(10_001).server(history.Expire, "", "")
	r.at(10_100).grants("c2", 0, 20_095)
	r.at(12_000).releases("c2")
	return judged(r)
}

func clockAhead() (*history.History, []checker.Verdict) {
	r := newRun("redis-setnx-getset")
	r.at(0).fault("skew", 1, "", 15*time.Second, "c2")
	r.at(2).acquire("c1", 0, 11_000)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(1004).server(history.Takeover, "c1", "c2")
	r.server(history.Granted, "c2", "c2")
	r.at(1005).got("c2", 0, 12_000)
	r.at(3000).heal("skew", 1, "c2")
	r.at(4000).releases("c2")
	r.at(5000).refused("c1")
	return judged(r)
}

// clockSlow has a client with a slow clock: its lease of 10 s lasts longer than the
// server keeps it.
func clockSlow() (*history.History, []checker.Verdict) {
	r := newRun("redis-watchdog")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(1000).fault("rate", 1, "", -100*time.Millisecond, "c1")
	r.renews("c1", 10_091) // the same lease, by a clock that runs slow
	r.at(6000).server(history.Prolong, "c1", "")
	r.renews("c1", 16_100)
	r.at(7000).invoke("c2", history.Acquire)
	r.at(13_000).heal("rate", 1, "c1")
	r.renews("c1", 16_070)
	r.at(16_001).server(history.Expire, "c1", "")
	r.at(16_010).grants("c2", 0, 26_005)
	r.at(17_000).releases("c2")
	r.at(17_500).refused("c1")
	return judged(r)
}

// stalledServer has a quorum whose client asks one server after the other without a
// timeout.
func stalledServer() (*history.History, []checker.Verdict) {
	r := newRun("redlock-flawed-timeout")
	r.at(0).fault("server-pause", 1, "", 0, "redis-2")
	r.at(1).invoke("c1", history.Acquire)
	r.at(2).on("redis-1").server(history.Granted, "c1", "c1")
	r.at(10_002).server(history.Expire, "c1", "")
	r.at(40_000).heal("server-pause", 1, "redis-2")
	r.at(40_001).on("redis-2").server(history.Granted, "c1", "c1")
	r.at(40_002).end("c1", history.Acquire, history.Info, history.ErrTimeout)
	r.over()
	h := &r.h
	return h, verdicts(checker.Liveness, "c1 waited for long", 1, len(h.Entries)-2)
}

func fastServers() (*history.History, []checker.Verdict) {
	r := newRun("redlock-seed")
	for i, s := range []string{"redis-1", "redis-2", "redis-3"} {
		r.at(0).fault("server-rate", 1+i, "", 100*time.Millisecond, s)
	}
	for i, s := range []string{"redis-4", "redis-5"} {
		r.at(0).fault("partition", 4+i, "", 0, "c1", s)
	}
	r.at(2).quorum("c1", 10_001, "redis-1", "redis-2", "redis-3")
	r.at(5000).invoke("c2", history.Acquire)
	for i, s := range []string{"redis-1", "redis-2", "redis-3"} {
		r.on(s).at(9903+i).server(history.Expire, "c1", "")
	}
	r.at(9950).each(history.Granted, "c2", "c2", "redis-1", "redis-2", "redis-3", "redis-4", "redis-5")
	r.at(9952).got("c2", 0, 19_940)
	r.at(10_500).releasesNothing("c1")
	for i, s := range []string{"redis-1", "redis-2", "redis-3"} {
		r.at(12_000).heal("server-rate", 1+i, s)
	}
	return judged(r, checker.LeaseExclusion)
}

func quorumClockJump() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	r.at(0).fault("partition", 1, "", 0, "c1", "redis-4")
	r.at(0).fault("partition", 2, "", 0, "c1", "redis-5")
	r.at(2).quorum("c1", 9_900, "redis-1", "redis-2", "redis-3")
	r.at(1000).fault("server-jump", 3, "", 10*time.Second, "redis-3")
	r.on("redis-3").server(history.Expire, "c1", "")
	r.at(2000).quorum("c2", 11_900, "redis-3", "redis-4", "redis-5")
	r.at(4000).invoke("c2", history.Release)
	r.each(history.Remove, "c2", "c2", "redis-3", "redis-4", "redis-5")
	r.end("c2", history.Release, history.OK, "")
	r.at(5000).invoke("c1", history.Release)
	r.each(history.Remove, "c1", "c1", "redis-1", "redis-2")
	r.end("c1", history.Release, history.OK, "")
	return judged(r)
}

func quorumPause() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	all := []string{"redis-1", "redis-2", "redis-3", "redis-4", "redis-5"}
	r.at(2).quorum("c1", 9_890, all...)
	r.at(1000).fault("pause", 1, "c1 write: before last", 0, "c1")
	r.at(2000).invoke("c2", history.Acquire)
	for i, s := range all {
		r.on(s).at(10_002+i).server(history.Expire, "c1", "")
	}
	r.at(10_100).each(history.Granted, "c2", "c2", all...)
	r.got("c2", 0, 19_990)
	r.at(13_000).heal("pause", 1, "c1")
	r.at(13_100).releasesNothing("c1")
	return judged(r)
}

func quorumLateDel() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	r.h.Header.Nodes = 3
	all := []string{"redis-1", "redis-2", "redis-3"}
	r.at(2).quorum("c1", 9_890, all...)
	r.at(1000).fault("pause", 1, "c1 release: before request 1, DEL", 0, "c1")
	r.at(2000).invoke("c2", history.Acquire)
	for i, s := range all {
		r.on(s).at(10_002+i).server(history.Expire, "c1", "")
	}
	r.at(10_100).each(history.Granted, "c2", "c2", all...)
	r.got("c2", 0, 19_990)
	r.at(13_000).heal("pause", 1, "c1")
	r.invoke("c1", history.Release)
	r.each(history.Remove, "c2", "c1", all...)
	r.end("c1", history.Release, history.OK, "")
	return judged(r)
}

func quorumFalseNo() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	r.h.Header.Nodes = 3
	two := []string{"redis-1", "redis-2"}
	asked := r.at(1).invoke("c1", history.Acquire)
	made := r.on("redis-1").at(3).server(history.Granted, "c1", "c1")
	r.on("redis-2").server(history.Granted, "c1", "c1")
	no := r.at(7000).end("c1", history.Acquire, history.Fail, history.ErrHeld)
	r.at(7100).invoke("c2", history.Acquire)
	r.at(10_003).each(history.Expire, "c1", "", two...)
	r.at(10_200).each(history.Granted, "c2", "c2", two...)
	r.got("c2", 0, 20_090)
	return r.ends(checker.Answers, "a no that was none", asked, made, no)
}

func quorumLeft() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	r.h.Header.Nodes = 3
	all := []string{"redis-1", "redis-2", "redis-3"}
	r.at(1).fault("server-pause", 1, "", 0, all...)
	r.at(2).invoke("c1", history.Acquire)
	r.at(5000).invoke("c2", history.Acquire)
	r.at(9000).end("c1", history.Acquire, history.Info, history.ErrTimeout)
	r.at(15_000).heal("server-pause", 1, all...)
	r.each(history.Granted, "c1", "c1", all...)
	r.at(25_000).each(history.Expire, "c1", "", all...)
	r.at(25_100).each(history.Granted, "c2", "c2", all...)
	r.got("c2", 0, 34_990)
	return judged(r)
}

func quorumFailover() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	r.h.Header.Nodes = 5
	r.at(0).fault("partition", 1, "", 0, "c1", "redis-4")
	r.at(0).fault("partition", 2, "", 0, "c1", "redis-5")
	r.at(2).quorum("c1", 9_900, "redis-1", "redis-2", "redis-3")
	r.at(100).fault("failover", 3, "", 0, "redis-3")
	r.at(3000).promotes("redis-3b", "redis-3")
	r.server(history.Lose, "c1", "")
	r.at(4000).quorum("c2", 13_900, "redis-3b", "redis-4", "redis-5")
	r.at(5000).heal("failover", 3, "redis-3")
	r.at(6000).invoke("c1", history.Release)
	r.end("c1", history.Release, history.Info, history.ErrTimeout)
	return judged(r)
}

func hungWorker() (*history.History, []checker.Verdict) {
	r := newRun("redis-watchdog")
	r.at(2).acquire("c1", 0, 10_000)
	r.fault("hang", 1, "c1 acquire: after ok", 0, "c1")
	r.at(1000).invoke("c2", history.Acquire)
	for at := 3333; at < 40_000; at += 3333 {
		r.at(at).server(history.Prolong, "c1", "")
		r.renews("c1", at+9_999)
	}
	r.at(40_000)
	return judged(r)
}

func noticedLoss() (*history.History, []checker.Verdict) {
	r := newRun("redis-watchdog")
	r.at(2).acquire("c1", 0, 10_000)
	for _, at := range []int{3333, 6666} {
		r.at(at).server(history.Prolong, "c1", "")
		r.renews("c1", at+9_999)
	}
	r.at(7000).fault("pause", 1, "", 0, "c1")
	r.at(8000).invoke("c2", history.Acquire)
	r.at(16_666).server(history.Expire, "c1", "")
	r.at(16_700).grants("c2", 0, 26_690)
	r.at(18_000).heal("pause", 1, "c1")
	r.at(18_500).loses("c1")
	r.at(19_000).releases("c2")
	return judged(r)
}

// invertedRelease has a release that is ok but removes nothing.
func invertedRelease() (*history.History, []checker.Verdict) {
	r := newRun("redis-setnx-getset")
	r.at(2).acquire("c1", 0, 11_000)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(3000).releasesNothing("c1")
	r.at(11_010).server(history.Takeover, "c1", "c2")
	r.server(history.Granted, "c2", "c2")
	r.at(11_012).got("c2", 0, 22_005)
	r.at(12_000).releases("c2")
	return judged(r, checker.Handover)
}

// secondRound has a client that slept for longer than the lease of its first round.
func secondRound() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	nodes := []string{"redis-1", "redis-2", "redis-3"}
	r.at(0).invoke("c1", history.Acquire)
	r.at(1).each(history.Granted, "c1", "c1", nodes...)
	r.at(2).fault("pause", 1, "c1 acquire: after request 1, SET", 0, "c1")
	r.at(10_002).each(history.Expire, "c1", "", nodes...)
	r.at(13_002).heal("pause", 1, "c1")
	r.at(13_100).each(history.Granted, "c1", "c1", nodes...)
	r.at(13_101).got("c1", 0, 22_998)
	r.at(14_000).invoke("c1", history.Release)
	r.each(history.Remove, "c1", "c1", nodes...)
	r.end("c1", history.Release, history.OK, "")
	return judged(r)
}

// A real server lists the old master's entries a little after it has become the
// master, at a later nanosecond.
func TestANewMasterNeverHadWhatDidNotReachIt(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		h, v := s.make()
		var promoted string
		var late time.Duration
		for i := range h.Entries {
			e := &h.Entries[i]
			if promoted != "" && (e.Process.Name == promoted && !e.By.Set) {
				late += time.Microsecond
			} else if promoted = ""; e.F == history.Promote {
				promoted = e.Process.Name
			}
			e.Time += late
		}
		if late == 0 {
			continue
		}
		t.Log(s.name)
		mustSay(t, story(t, h, v, Options{}), s.says...)
	}
}

// A replica whose clock is ahead treats an entry as expired.
func clockOfReplica() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(0).fault("server-skew", 1, "", 48*time.Second, "redis-1b")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(1000).fault("failover", 2, "", 0, "redis-1")
	r.at(4000).promotes("redis-1b", "redis-1")
	r.server(history.Expire, "c1", "")
	r.at(4500).acquire("c2", 0, 14_495)
	r.at(5000).heal("failover", 2, "redis-1")
	r.at(6000).releases("c2")
	r.at(7000).refused("c1")
	return judged(r)
}

// releaseAfterLoss has a client that learns at its release that it has lost the lock.
func releaseAfterLoss() (*history.History, []checker.Verdict) {
	r := newRun("mysql-get-lock")
	r.at(2).acquire("c1", 0, 0)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(2000).fault("session-expiry", 1, "", 0, "c1")
	r.server(history.Lose, "c1", "")
	r.server(history.Granted, "c2", "c2")
	r.at(2004).got("c2", 0, 0)
	r.at(5000).invoke("c1", history.Release)
	r.end("c1", history.Release, history.Fail, history.ErrLost)
	r.at(6000).releases("c2")
	return judged(r)
}

// lostRelease has a release that gives up, and that no server has seen.
func lostRelease() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(500).invoke("c1", history.Release)
	r.fault("partition", 1, "c1 release: before request 1, script", 0, "c1", "redis-1")
	r.at(800).end("c1", history.Release, history.Info, history.ErrTimeout)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(10_001).server(history.Expire, "c1", "")
	r.at(10_100).grants("c2", 0, 20_095)
	r.at(11_000).releases("c2")
	return judged(r)
}

// thirdWriter has a client whose write is overwritten by one of two clients that held
// together before it.
func thirdWriter() (*history.History, []checker.Verdict) {
	r := newRun("mysql-fair")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(4).reads("c1", 0, 0)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(1004).server(history.Takeover, "c1", "c2")
	r.server(history.Granted, "c2", "c2")
	r.at(1005).got("c2", 0, 11_000)
	r.at(2000).releases("c2")
	r.at(3000).acquire("c3", 0, 13_000)
	r.at(3004).reads("c3", 0, 0)
	r.at(4000).writes("c3", 0, 2, 0)
	r.at(4010).releases("c3")
	r.at(5000).writes("c1", 0, 1, 2)
	return judged(r)
}

// partialRelease has a quorum's release that misses one server.
func partialRelease() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	nodes := []string{"redis-1", "redis-2", "redis-3"}
	r.h.Header.Nodes = 3
	r.at(2).quorum("c1", 9_900, nodes...)
	r.at(500).invoke("c1", history.Release)
	r.each(history.Remove, "c1", "c1", nodes[:2]...)
	r.at(502).end("c1", history.Release, history.OK, "")
	r.at(1000).quorum("c2", 10_900, nodes[:2]...)
	r.on("redis-3").at(10_001).server(history.Expire, "c1", "")
	return judged(r)
}

// cutRelease has a quorum's release that does not reach one server because of the
// network.
func cutRelease() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	nodes := []string{"redis-1", "redis-2", "redis-3"}
	r.h.Header.Nodes = 3
	r.at(2).quorum("c1", 9_900, nodes...)
	r.at(500).invoke("c1", history.Release)
	r.fault("partition", 1, "c1 release: before request 1, script", 0, "c1", "redis-3")
	for i, s := range nodes[:2] {
		r.on(s).at(502+i).server(history.Remove, "c1", "c1")
	}
	r.at(600).end("c1", history.Release, history.Info, history.ErrTimeout)
	r.on("redis-3").at(10_001).server(history.Expire, "c1", "")
	r.at(11_000).quorum("c2", 20_900, nodes...)
	return judged(r)
}

// briefEntry has entries that last for less than a column of the picture: between two
// others, and one soon after the other.
func briefEntry() (*history.History, []checker.Verdict) {
	r := newRun("redis-setnx-del-stale")
	x := r.at(2).acquire("c1", 0, 11_000)
	r.at(10).on("redis-2").server(history.Granted, "c1", "c1")
	r.at(12).server(history.Remove, "c1", "c1")
	r.at(500).server(history.Granted, "c1", "c1")
	r.at(502).server(history.Remove, "c1", "c1")
	r.at(12_000).invoke("c2", history.Acquire)
	r.on("redis-1").server(history.Remove, "c1", "c2")
	r.at(12_001).server(history.Granted, "c2", "c2")
	r.invoke("c3", history.Acquire)
	r.at(12_003).server(history.Remove, "c2", "c3")
	r.at(12_004).server(history.Granted, "c3", "c3")
	y := r.at(12_005).got("c3", 0, 23_000)
	r.at(12_020).got("c2", 0, 23_000)
	r.at(15_000).writes("c3", 0, 1, 0)
	return r.ends(checker.Exclusion, "two held at once", x, y)
}

// cutAnswers has a quorum's release that reaches two of the servers from which its
// client is cut off. Later the client is cut off again.
func cutAnswers() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	nodes := []string{"redis-1", "redis-2", "redis-3"}
	r.h.Header.Nodes = 3
	cut := func(id int, s string) {
		for i := range nodes {
			r.fault("partition"+s, id+i, "c1 release: before request 1, script", 0, "c1", nodes[i])
		}
	}
	r.at(2).quorum("c1", 9_900, nodes...)
	r.at(500).invoke("c1", history.Release)
	cut(1, "")
	r.at(502).each(history.Remove, "c1", "c1", nodes[:2]...)
	r.at(600).end("c1", history.Release, history.Info, "unknown")
	r.at(2000)
	cut(1, history.EndSuffix)
	r.on("redis-3").at(10_001).server(history.Expire, "c1", "")
	r.at(11_000).quorum("c2", 20_900, nodes...)
	r.at(12_000).invoke("c2", history.Release)
	r.at(12_001).each(history.Remove, "c2", "c2", nodes...)
	r.at(12_002).end("c2", history.Release, history.OK, "")
	r.at(13_000).quorum("c1", 22_900, nodes...)
	r.at(14_000).invoke("c1", history.Release)
	cut(4, "")
	r.at(14_100).end("c1", history.Release, history.Info, "unknown")
	r.at(20_600)
	cut(4, history.EndSuffix)
	return judged(r)
}

// intruder has a client that was granted the lock because an entry had been removed,
// and whose write is lost.
func intruder() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-del")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(10_001).server(history.Expire, "c1", "")
	r.at(10_100).acquire("c2", 0, 20_100)
	r.at(10_110).reads("c2", 0, 0)
	r.at(12_000).invoke("c1", history.Release)
	r.server(history.Remove, "c2", "c1")
	r.end("c1", history.Release, history.OK, "")
	r.at(12_100).acquire("c3", 0, 22_100)
	r.at(12_110).reads("c3", 0, 0)
	r.at(13_000).writes("c3", 0, 2, 0)
	r.at(14_000).writes("c2", 0, 1, 2)
	return judged(r, checker.Exclusion)
}

// If an entry expired when a replica became the master, it is unknown which server
// dropped it.
func TestAnEntryThatWasOverWhenAReplicaRose(t *testing.T) {
	t.Parallel()
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 1000)
	r.at(500).fault("failover", 1, "", 0, "redis-1")
	r.at(700).invoke("c2", history.Acquire)
	r.at(4000).promotes("redis-1b", "redis-1")
	r.at(4001).server(history.Expire, "c1", "")
	r.at(4100).grants("c2", 0, 14_090)
	r.at(5000).heal("failover", 1, "redis-1")
	r.at(7000).releases("c2")
	r.at(7100).refused("c1")
	h, v := judged(r)
	got := flat(story(t, h, v, Options{}))
	if !strings.Contains(got, "c1's entry was gone, as its time was over") || strings.Contains(got, "redis-1b dropped") {
		t.Error(got)
	}
}

func TestEveryFaultHasItsWords(t *testing.T) {
	t.Parallel()
	d := newDigest(&history.History{
		Header:  history.Header{LeaseMS: 10_000},
		Entries: []history.Entry{{Index: 1}, {Index: 2, Time: 12 * time.Second}},
	})
	for _, kind := range faults.All() {
		for _, on := range [][]string{{"x"}, {"x", "y", "z"}} {
			f := &fault{Fault: faults.InHistory(kind.Name), on: on, start: 0, end: 1, amount: -15 * time.Second}
			for _, phrase := range []string{f.Words.Past, f.Words.Now, f.Words.Over} {
				if said := d.fill(f, phrase); strings.ContainsAny(said, "{}|") || phrase != "" && !strings.Contains(said, "x") && phrase != f.Words.Over {
					t.Errorf("%s on %v: %q", kind.Name, on, said)
				}
			}
			if who, did := d.clause(f, f.Words.Past); who == "" || did == "" {
				t.Errorf("%s on %v: %q %q", kind.Name, on, who, did)
			}
		}
	}
}

// A link that clients share belongs to all of them.
func TestTheLinkOfAProcessIsThatOfAllItsClients(t *testing.T) {
	t.Parallel()
	d := newDigest(&history.History{Entries: []history.Entry{
		{Index: 1, Process: history.Process{Name: history.Nemesis}, Type: history.Info, F: "partition", ID: 1, On: []string{"c1", "c2", "mysql-1"}},
	}})
	f := d.faults[0]
	if !f.strikes("c1") || !f.strikes("c2") || f.strikes("mysql-1") {
		t.Errorf("it strikes %v", f.victims())
	}
	if said := d.fill(f, f.Words.Now); said != "c1 and c2 are cut off from mysql-1" {
		t.Errorf("%q", said)
	}
}

// Clock faults go in either direction, for one victim or several. A connection is reset at
// a request, a reply or any message: the direction says whether the request got through.
func TestFaultsInWords(t *testing.T) {
	t.Parallel()
	d := newDigest(&history.History{Header: history.Header{LeaseMS: 10_000}, Entries: []history.Entry{{Index: 1}}})
	const kind, set = "kill-connection", "the network was set to reset the connection at the next "
	one, two, link, hit := []string{"c2"}, []string{"redis-1", "redis-2"}, []string{"c2", "zk-3"}, history.Some(1)
	for _, tt := range []struct {
		f         fault
		past, now string // "": not compared
	}{
		{fault{Fault: faults.InHistory("skew"), on: one, amount: 15 * time.Second}, "", "c2's clock is set 15 s ahead"},
		{fault{Fault: faults.InHistory("skew"), on: one, amount: -15 * time.Second}, "", "c2's clock is set 15 s back"},
		{fault{Fault: faults.InHistory("server-skew"), on: two, amount: 5 * time.Second}, "", "the clocks of redis-1 and redis-2 are set 5 s ahead"},
		{fault{Fault: faults.InHistory("jump"), on: one, amount: -15 * time.Second}, "", "the clock of c2 jumps back by 15 s"},
		{fault{Fault: faults.InHistory("rate"), on: one, amount: 100 * time.Millisecond}, "", "c2's clock gains 0.10 s in each 10 s from then on"},
		{fault{Fault: faults.InHistory("server-rate"), on: two, amount: -100 * time.Millisecond}, "", "the clocks of redis-1 and redis-2 lose 0.10 s in each 10 s from then on"},
		{fault{Fault: faults.InHistory(kind), on: link, text: toServer, hits: hit}, set + "request of c2 to zk-3, and later did: the request was lost", "the next request of c2 to zk-3 will reset the connection"},
		{fault{Fault: faults.InHistory(kind), on: link, text: toClient, hits: hit}, set + "reply of zk-3 to c2, and later did: the request got through", "the next reply of zk-3 to c2 will reset the connection"},
		{fault{Fault: faults.InHistory(kind), on: link, hits: hit}, set + "message of c2 and zk-3, and later did", "the next message of c2 and zk-3 will reset the connection"},
		{fault{Fault: faults.InHistory(kind), on: link, text: toServer}, set + "request of c2 to zk-3", ""}, // nothing was touched
		{fault{Fault: faults.InHistory(kind), on: link, text: toClient}, set + "reply of zk-3 to c2", ""},
		{fault{Fault: faults.InHistory(kind), on: link}, set + "message of c2 and zk-3", ""},
		{fault{Fault: faults.InHistory("entry-lost"), on: two[:1]}, "an operator removed an entry on redis-1", "an operator removes an entry on redis-1"},
	} {
		f := &tt.f
		f.end = none
		if got := d.fill(f, f.Words.Past); tt.past != "" && got != tt.past {
			t.Errorf("%q, want %q", got, tt.past)
		}
		if got := d.fill(f, f.Words.Now); tt.now != "" && got != tt.now {
			t.Errorf("%q, want %q", got, tt.now)
		}
	}
}

// A story says whose entry an operator removed, or that there was none.
func TestWhatAnOperatorDid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		lock, asked string
		f, text     string
		by          string
		want        string
	}{
		{"redis-set-lua", "redis-1", history.Remove, "", "", "an operator removes c1's entry on redis-1"},
		{"mysql-get-lock", "redis-1", history.Lose, history.SessionOver, "", "an operator kills c1's connection on redis-1"},
		{"redis-set-lua", "redis-2", history.Remove, "", "", "an operator finds no entry to remove on redis-2"},
		{"redis-set-lua", "redis-1", history.Remove, "", "c1", "an operator finds no entry to remove on redis-1"},
		{"redis-set-lua", "redis-1", history.Takeover, "", "", "an operator changes c1's entry on redis-1"},
		{"redis-set-lua", "redis-1", history.Change, "", "", "an operator changes c1's entry on redis-1"},
		{"redis-set-lua", "redis-2", history.Takeover, "", "", "an operator finds no entry to change on redis-2"},
		{"redis-set-lua", "redis-1", history.Takeover, "", "c1", "an operator finds no entry to change on redis-1"},
	} {
		r := newRun(c.lock)
		r.at(2).acquire("c1", 0, 10_000)
		name := "entry-lost"
		if c.f == history.Takeover || c.f == history.Change {
			name = "entry-changed"
		}
		r.at(2000).fault(name, 1, "", 0, c.asked)
		if c.by != "" {
			r.at(2500).invoke(c.by, history.Release)
		}
		r.server(c.f, "c1", c.by)
		r.h.Entries[len(r.h.Entries)-1].Text = c.text
		r.over()
		d := newDigest(&r.h)
		f := d.faults[0]
		if got := d.fill(f, f.Words.Now); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// judged ends a run and returns its history with the judge's verdicts; of the violations,
// those of the given property, if there is one.
func judged(r *run, property ...checker.Property) (*history.History, []checker.Verdict) {
	r.over()
	list := checker.Judge(&r.h)
	for _, p := range property {
		list = only(list, p)
	}
	return &r.h, list
}

// only keeps, of the violations, those of one property.
func only(list []checker.Verdict, p checker.Property) []checker.Verdict {
	for i := range list {
		if v := &list[i]; v.Outcome == checker.Violated && v.Property != p {
			v.Outcome, v.Witness = checker.NA, nil
		}
	}
	return list
}

// lateMajority has a client that reached one server at once, and the others only
// after another client's entries had gone.
func lateMajority() (*history.History, []checker.Verdict) {
	r := newRun("redlock")
	r.h.Header.Nodes = 5
	nodes := []string{"redis-2", "redis-3", "redis-4"}
	r.at(2).quorum("c1", 9_900, nodes...)
	r.at(500).fault("pause", 1, "", 0, "c1")
	r.at(1000).invoke("c2", history.Acquire)
	r.on("redis-1").at(1004).server(history.Granted, "c2", "c2")
	r.at(10_002).each(history.Expire, "c1", "", nodes...)
	for i, s := range append(nodes, "redis-5") {
		r.on(s).at(10_100+i).server(history.Granted, "c2", "c2")
	}
	r.at(10_110).fault("pause", 2, "c2 acquire: after request 5, SET", 0, "c2")
	r.at(11_000).heal("pause", 2, "c2")
	r.at(11_001).got("c2", 0, 20_000)
	r.at(13_000).heal("pause", 1, "c1")
	r.at(13_100).releasesNothing("c1")
	return judged(r)
}
