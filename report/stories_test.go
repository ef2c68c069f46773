package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

var update = flag.Bool("update", false, "write the stories of testdata anew")

// stories has a small history for each way in which a lock breaks, or does not break,
// and the expected story.
var stories = []struct {
	name string
	make func() (*history.History, []checker.Verdict)
	says []string
}{
	{"pause-over-lease", pauseOverLease, []string{
		`✗ VIOLATED exclusion: c1 and c2 both held "a" from 10.11 s to 12.02 s`,
		"c1 was granted the lock, with a lease until 10.00 s.",
		"before its write left, it was paused for 12 s.",
		"its lease ended and redis-1 dropped the entry, before c1 had released the lock.",
		"At 10.11 s c2 was granted the lock: from then on both held it.",
		"c1 woke up and wrote 1 over c2's 1, which it had not read: c2's update was lost.",
	}},
	{"late-del", lateDel, []string{
		`✗ VIOLATED ownership: c1's release removed c2's entry for "a" at 12.02 s`,
		"At 12.00 s c1 woke up. At 12.02 s its release removed c2's entry, while c2 still believed that it held the lock.",
		"c3 was granted the lock, although c2's lease ran until 20.10 s: from then on both held it.",
	}},
	{"long-chain", longChain, []string{
		"At 7.00 s redis-1 was paused for 5.40 s.",
		"At 13.80 s c3 wrote 4 over c4's 3, which it had not read",
	}},
	{"entry-lost", entryLost, []string{
		"redis-1 lost power for 1 s.",
		"redis-1 lost c1's entry, while c1 still believed that it held the lock.",
		"c2 was granted the lock, although c1's lease ran until 10.00 s: from then on both held it.",
	}},
	{"clock-jump", clockJump, []string{
		"the clock of redis-1 jumped forward by 20 s.",
		"redis-1 dropped c1's entry as expired, 7 s before the lease ended",
	}},
	{"late-answer", lateAnswer, []string{
		"redis-1 made an entry for c1, whose acquire was not over yet.",
		"its lease ended and redis-1 dropped the entry",
		"c1 woke up and heard of its grant, whose lease was over",
	}},
	{"no-servers", noServers, []string{
		"its lease ended, before c1 had released the lock.",
		"c2 was granted the lock: from then on both held it.",
	}},
	{"delayed-write", delayedWrite, []string{
		"VIOLATED resource: c1's write at 15.00 s replaced c2's 1, which it had not read",
		"the network began to delay everything between c1 and the resource by 10 s",
		"c1 stopped waiting for an answer to its write.",
		"c1's write arrived and put 1 over c2's 1, which c1 had not read: c2's update was lost.",
	}},
	{"same-token", sameToken, []string{
		"VIOLATED fencing: c1 and later c2 got token 1",
		"c2 was granted the lock, with token 1: the same as c1's.",
	}},
	{"unseen-server", unseenServer, []string{
		"At 3.00 s mysql-1 was stopped for 1 s.",
		"c2 was granted the lock: from then on both held it.",
	}},
	{"inner-release", innerRelease, []string{
		"it was granted the lock again, though it held it already.",
		"its release of the inner grant removed its entry, while c1 still believed that it held the lock.",
		"c2 was granted the lock, although c1's lease ran until 10.00 s: from then on both held it.",
	}},
	{"absent-waiters", absentWaiters, []string{
		"c2 had its place in the queue.",
		"c3 had its place in the queue.",
		"c3 gave up waiting.",
		"c2 was killed.",
		"c4 was granted the lock: nobody had held it for 25 s.",
	}},
	{"overtaken", overtaken, []string{
		`VIOLATED fairness: c2 was granted "a" before c3, which was in the queue when c2 asked`,
		"c3 had its place in the queue.",
		"c2 asked for the lock.",
		"c1 released the lock.",
		"c2 was granted the lock, although c3 was in the queue when c2 asked.",
		"c3 was granted the lock.",
	}},
	{"overtaken-by-number", overtakenByNumber, []string{
		`VIOLATED fairness: c2 was granted "a" before c3, which was ahead of it in the queue`,
		"c2 had its place in the queue.",
		"c3 had its place in the queue.",
	}},
	{"false-no", falseNo, []string{
		`VIOLATED answers: c1 was told that it did not get "a", and the entry was its own`,
		"the network was set to lose the next reply of redis-1 to c1.",
		"c1 was told that it had not got the lock, although the entry was its own.",
		"c2 was granted the lock: that entry had kept it from everybody for another 3 s.",
	}},
	{"no-expiry", noExpiry, []string{
		`VIOLATED liveness: nobody held "a" from 1.00 s to 36.00 s while c2 waited`,
		"just after the answer to the SETNX of its acquire, c1 was killed.",
		"which nobody had held yet, and redis-1 still kept c1's entry, which was 36 s old.",
	}},
	{"clock-set-back", clockSetBack, []string{
		`VIOLATED handover: nobody held "a" from 7.00 s to 20.10 s while c2 waited`,
		"redis-1 dropped c1's entry, 10 s after the lease had ended.",
		"c2 was granted the lock: nobody had held it for 13.10 s.",
	}},
	{"dead-before-asked", deadBeforeAsked, []string{
		`VIOLATED handover: nobody held "a" from 1.00 s to 10.10 s while c2 waited`,
		"c2 was granted the lock: nobody had held it for 10.10 s.",
	}},
	{"refused", refused, []string{
		"✓ HELD lease-exclusion, ownership, fencing, resource, answers, liveness, handover and fairness",
		"the resource refused c1's write: it came with token 1, and the resource had seen 2.",
		"Violated, and not promised:",
		"✗ exclusion: two held at once",
	}},
	{"failover-lost-entry", failoverLostEntry, []string{
		"c1 was granted the lock by redis-1,",
		"redis-1b took the place of redis-1.",
		"redis-1b did not have c1's entry, which had not reached it, while c1 still believed that it held the lock.",
		"c2 was granted the lock by redis-1b, although c1's lease ran until 10.00 s: from then on both held it.",
		"redis-1 is back, as a replica",
	}},
	{"split-brain", splitBrain, []string{
		"redis-1 and sentinel-1 were cut off from the other servers for 8 s.",
		"redis-1b took the place of redis-1, which was still running.",
		"c1 was granted the lock by redis-1,",
		"c2 was granted the lock by redis-1b,",
	}},
	{"removal-lost", removalLost, []string{
		"VIOLATED liveness",
		"c1's entry was there again: its removal had not reached redis-1b.",
		"which nobody had held for 39.50 s, and redis-1b still kept c1's entry.",
	}},
	{"answer-undone", answerUndone, []string{
		`VIOLATED answers: c1 was told that it had released "a", and its entry came back`,
		"c1's entry was there again: its removal had not reached redis-1b. The entry was still there at the end.",
	}},
	{"renewed-after-another", renewedAfterAnother, []string{
		`VIOLATED answers: c1 said that it still held "a", and c2 had been granted it in between`,
		"At 10.00 s its lease ended and redis-1 dropped the entry",
		"although c2 had been granted it in between.",
		"█" + strings.Repeat("▒", 20) + "+██",
	}},
	{"released-by-nobody", releasedByNobody, []string{
		`VIOLATED answers: c1 was told that it had released "a", and its entry stayed`,
		"At 10.00 s its lease ended and redis-1 dropped the entry.",
	}},
	{"eviction", eviction, []string{
		"redis-1 ran out of memory for 2 s.",
		"redis-1 evicted c1's entry, while c1 still believed that it held the lock.",
	}},
	{"removal", removedByAnOperator, []string{
		"At 2.00 s an operator removed c1's entry on redis-1. At 3.10 s c2 was granted the lock",
		"an operator removes c1's entry on redis-1",
	}},
	{"change", changedByAnOperator, []string{
		"At 2.00 s an operator changed c1's entry on redis-1. At 3.00 s c1 released the lock and was told that it no longer held it.",
		"an operator changes c1's entry on redis-1",
		"redis-1 dropped an operator's entry: its time was over.",
	}},
	{"clock-ahead", clockAhead, []string{
		"c2's clock was set 15 s ahead for 3 s.",
		"c2's acquire took over c1's entry, while c1 still believed that it held the lock.",
		"c2's clock is right again",
	}},
	{"clock-slow", clockSlow, []string{
		"At 1.00 s its clock lost 0.10 s in each 10 s for 12 s.",
		"At 6.00 s c1 renewed its lease, until 16.10 s.",
		"At 16.00 s redis-1 dropped c1's entry as expired, 69 ms before c1 thought that its lease would end, while",
		"although c1 thought that its lease ran until 16.07 s",
		"c1's clock runs as it should again",
	}},
	{"fast-servers", fastServers, []string{
		"the clocks of redis-1, redis-2 and redis-3 gained 0.10 s in each 10 s from then on.",
		"the network cut c1 off from redis-4 and redis-5.",
		"redis-1, redis-2 and redis-3 dropped c1's entries as expired, 0.10 s before the lease ended",
		"c2 was granted the lock by 5 servers, although c1's lease ran until 10.00 s",
	}},
	{"quorum-clock-jump", quorumClockJump, []string{
		"c1 was granted the lock by redis-1, redis-2 and redis-3",
		"redis-3 dropped c1's entry as expired, 8.90 s before the lease ended",
		"c2 was granted the lock by redis-3, redis-4 and redis-5",
	}},
	{"quorum-pause", quorumPause, []string{
		"Between 10.00 s and 10.01 s 5 servers dropped c1's entries, 0.11 s to 0.12 s after the lease had ended, before c1 had released the lock.",
	}},
	{"quorum-late-del", quorumLateDel, []string{
		"its release removed c2's entries on redis-1, redis-2 and redis-3, while c2 still believed that it held the lock.",
	}},
	{"quorum-false-no", quorumFalseNo, []string{
		"redis-1 and redis-2 made entries for c1.",
		"redis-1 and redis-2 dropped c1's entries: their time was over.",
		"those entries had kept it from everybody for another 3 s",
	}},
	{"quorum-left", quorumLeft, []string{
		"At 15.00 s redis-1, redis-2 and redis-3 made entries for c1, whose acquire was over.",
	}},
	{"quorum-failover", quorumFailover, []string{
		"redis-3b took the place of redis-3.",
		"redis-3b did not have c1's entry on redis-3, which had not reached it",
	}},
	{"stalled-server", stalledServer, []string{
		"redis-2 was paused for 40 s.",
		"it stopped waiting for the lock, which nobody had held yet",
	}},
	{"hung-worker", hungWorker, []string{
		`VIOLATED liveness: c2 waited for "a" from 1.00 s to 40.00 s, while c1 kept it`,
		"it hung, all but its background tasks.",
		"nobody had been granted the lock in the last 39 s, and c1 had renewed its lease 12 times in that time, by then until 49.99 s.",
	}},
	{"noticed-loss", noticedLoss, []string{
		"it had renewed its lease twice, by then until 16.66 s.",
		"At 18.00 s c1 woke up. At 18.50 s it noticed that it had lost the lock.",
	}},
	{"inverted-release", invertedRelease, []string{
		"c1 released the lock and was told yes, but its entry stayed. At 11.01 s c2's acquire took over c1's entry, which c1 had released. Then",
	}},
	{"second-round", secondRound, []string{
		"✓ HELD exclusion", "redis-1, redis-2 and redis-3 made entries for c1.", "c1 was paused for 13 s.",
		"redis-1, redis-2 and redis-3 dropped c1's entries: their time was over.",
		"c1 woke up. At 13.10 s it was granted the lock by redis-1, redis-2 and redis-3, with a lease until 23.00 s.",
	}},
	{"clock-of-replica", clockOfReplica, []string{
		"c1's entry was gone: by redis-1b's clock its time was over, 6 s before the lease ended, while c1 still",
	}},
	{"release-after-loss", releaseAfterLoss, []string{
		"c1 releases the lock and is told that it has lost it",
	}},
	{"lost-release", lostRelease, []string{
		"At 10.00 s its lease ended and redis-1 dropped the entry. At 10.10 s",
	}},
	{"third-writer", thirdWriter, []string{
		"At 3.00 s c3 was granted the lock, with a lease until 13.00 s, although c1 still held it. At 5.00 s c1 wrote 1 over c3's 2",
	}},
	{"partial-release", partialRelease, []string{
		"At 0.50 s it released the lock and was told yes, but its entry on redis-3 stayed. At 1.00 s",
	}},
	{"cut-release", cutRelease, []string{
		"redis-3 c1" + strings.Repeat("━", 55) + " ╌", "╌ an entry too short for a name",
		"Then c1's release removed its entries on redis-1 and redis-2. At 0.60 s",
		"At 10.00 s redis-3 dropped c1's entry, 0.10 s after the lease had ended. At 11.00 s c2",
	}},
	{"brief-entry", briefEntry, []string{
		"redis-1 c1" + strings.Repeat("━", 47) + "╌c3━",
		"redis-2 ╌ ╌",
	}},
	{"cut-answers", cutAnswers, []string{
		"c1's release removed its entries on redis-1 and redis-2: the requests got through, but not their answers.",
		"The run went on until 20.60 s, with 1 more grant and 1 more fault (partition).",
	}},
	{"intruder", intruder, []string{
		"At 12.10 s c3 was granted the lock, although c2's lease ran until 20.10 s: from then on c2 and c3 both held it.",
		"At 14.00 s c2 wrote 1 over c3's 2",
	}},
	{"late-majority", lateMajority, []string{
		"At 10.00 s redis-2, redis-3 and redis-4 dropped c1's entries, 0.10 s after the lease had ended, before c1 had released the lock.",
		"At 10.10 s redis-1, redis-2 and redis-3 had made entries for c2, whose acquire was not over yet.",
		"At 11.00 s it woke up and heard of its grant: from then on both held it.",
	}},
	{"killed-holder", killedHolder, []string{
		"✓ HELD exclusion", "it was killed.", "its lease ended and redis-1 dropped the entry.",
	}},
}

// Each way in which a lock breaks has a story that explains it. The whole texts are
// in testdata; -update writes them.
func TestStories(t *testing.T) {
	t.Parallel()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			h, v := s.make()
			if err := history.Check(h); err != nil {
				t.Fatal(err)
			}
			o := Options{}
			if s.name == "refused" {
				o.Promise = checker.Properties[1:]
			}
			got := story(t, h, v, o)
			mustSay(t, got, s.says...)
			file := filepath.Join("testdata", s.name+".txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("the story is not the one of %s; -update writes it anew:\n%s", file, got)
			}
		})
	}
}

// If the record of the servers has gaps, it is unknown which entries they keep at the
// end.
func TestAStoryClaimsNoEntryThatMayHaveGone(t *testing.T) {
	h, v := noExpiry()
	h.Header.Observes = nil
	if got := story(t, h, v, Options{}); strings.Contains(got, "still keeps") || !strings.Contains(got, "c2 is refused the lock, which nobody holds") {
		t.Errorf("the story says what nobody has seen:\n%s", got)
	}
}

// flat returns a text in one line, with single spaces.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }

// mustSay fails if a story, in one line, does not say some words.
func mustSay(t *testing.T, story string, words ...string) {
	t.Helper()
	for _, say := range words {
		if !strings.Contains(flat(story), say) {
			t.Errorf("the story does not say %q:\n%s", say, story)
		}
	}
}

func story(t *testing.T, h *history.History, v []checker.Verdict, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Story(&b, h, v, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func pauseOverLease() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	x := r.at(2).acquire("c1", 0, 10_000)
	r.at(4).reads("c1", 0, 0)
	r.at(6).invoke("c1", history.Write, 1)
	r.fault("pause", 1, "c1 write: before last", 0, "c1")
	r.at(1000).invoke("c2", history.Acquire)
	r.at(10_001).server(history.Expire, "c1", "")
	y := r.at(10_110).grants("c2", 0, 20_105)
	r.at(10_112).reads("c2", 0, 0)
	r.at(10_300).writes("c2", 0, 1, 0)
	r.at(12_006).heal("pause", 1, "c1")
	r.at(12_010).resource(history.Write, "c1", 0, history.Some(1), history.Some(1))
	r.end("c1", history.Write, history.OK, "")
	r.at(12_020).invoke("c1", history.Release)
	r.at(12_024).end("c1", history.Release, history.Fail, history.ErrNotHeld)
	r.at(12_100).releases("c2")
	return r.ends(checker.Exclusion, "two held at once", x, y)
}

func lateDel() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-del")
	r.at(2).acquire("c1", 0, 10_000)
	r.fault("pause", 1, "c1 acquire: after ok", 0, "c1")
	r.at(3000).invoke("c2", history.Acquire)
	r.at(5000).invoke("c3", history.Acquire)
	r.at(10_001).server(history.Expire, "c1", "")
	r.at(10_105).grants("c2", 0, 20_100)
	r.at(12_002).heal("pause", 1, "c1")
	r.at(12_004).invoke("c1", history.Release)
	remove := r.at(12_020).server(history.Remove, "c2", "c1")
	r.end("c1", history.Release, history.OK, "")
	r.at(12_100).grants("c3", 0, 22_090)
	r.at(13_000).releases("c3")
	r.at(14_000).refused("c2")
	return r.ends(checker.Ownership, "c1 removed c2's entry", remove)
}

// longChain has more moments that matter than a story has.
func longChain() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-del")
	r.at(5000).acquire("c1", 0, 15_000)
	for _, c := range []string{"c2", "c3", "c4"} {
		r.invoke(c, history.Acquire)
	}
	r.at(7000).fault("server-pause", 1, "", 0, "redis-1")
	r.at(7400).invoke("c1", history.Release)
	r.at(12_400).heal("server-pause", 1, "redis-1")
	r.at(12_401).server(history.Remove, "c1", "c1")
	r.at(12_410).server(history.Granted, "c2", "c2")
	r.at(12_450).server(history.Remove, "c2", "c1") // the request that the client library repeated
	r.end("c1", history.Release, history.OK, "")
	r.at(12_550).got("c2", 0, 22_400)
	r.at(12_600).grants("c3", 0, 22_600)
	r.reads("c3", 0, 1)
	r.at(13_300).invoke("c2", history.Release)
	r.server(history.Remove, "c3", "c2")
	r.end("c2", history.Release, history.OK, "")
	r.at(13_500).grants("c4", 0, 23_500)
	r.reads("c4", 0, 1)
	w := r.at(13_700).writes("c4", 0, 3, 1)
	r.at(13_800)
	stale := r.writes("c3", 0, 4, 3)
	return r.ends(checker.Resource, "a write replaced what its writer had not read", w, stale)
}

func entryLost() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	x := r.at(2).acquire("c1", 0, 10_000)
	r.at(2000).fault("restart-lost", 1, "", 0, "redis-1")
	r.server(history.Lose, "c1", "")
	r.at(3000).heal("restart-lost", 1, "redis-1")
	y := r.at(3200).acquire("c2", 0, 13_190)
	r.at(6000).refused("c1")
	r.at(6100).releases("c2")
	return r.ends(checker.LeaseExclusion, "two held with valid leases", x, y)
}

func clockJump() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	x := r.at(2).acquire("c1", 0, 10_000)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(3000).fault("server-jump", 1, "", 20*time.Second, "redis-1")
	r.server(history.Expire, "c1", "")
	y := r.at(3200).grants("c2", 0, 13_195)
	r.at(6000).releases("c2")
	r.at(7000).refused("c1")
	return r.ends(checker.Exclusion, "two held at once", x, y)
}

// lateAnswer has a client that was paused before it saw that it had been granted the
// lock.
func lateAnswer() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(1).invoke("c1", history.Acquire)
	r.at(2).server(history.Granted, "c1", "c1")
	r.at(3).fault("pause", 1, "c1 acquire: after request 1, SET", 0, "c1")
	r.at(10_002).server(history.Expire, "c1", "")
	x := r.at(10_300).acquire("c2", 0, 20_299)
	r.at(12_003).heal("pause", 1, "c1")
	y := r.at(12_003).got("c1", 0, 10_001)
	r.at(12_500).refused("c1")
	r.at(13_000).releases("c2")
	return r.ends(checker.Exclusion, "two held at once", x, y)
}

// noServers has the lines of clients only.
func noServers() (*history.History, []checker.Verdict) {
	r := newRun("")
	r.h.Header = history.Header{Format: history.Format}
	r.invoke("c1", history.Acquire)
	x := r.at(2).got("c1", 0, 10_000)
	r.at(3).fault("pause", 1, "", 0, "c1")
	r.at(10_050).invoke("c2", history.Acquire)
	y := r.at(10_052).got("c2", 0, 20_050)
	r.at(12_000).heal("pause", 1, "c1")
	r.releasesNothing("c1")
	return &r.h, verdicts(checker.Exclusion, "two held at once", x, y)
}

func delayedWrite() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(4).reads("c1", 0, 0)
	r.at(5000).invoke("c1", history.Write, 1)
	r.fault("delay", 1, "c1 write: before last", 10*time.Second, "c1", history.Resource)
	write, grant := r.opened["c1"], r.held["c1"]
	r.at(7000).heal("delay", 1, "c1", history.Resource)
	r.end("c1", history.Write, history.Info, history.ErrTimeout)
	r.at(7001).releases("c1")
	r.at(7040).acquire("c2", 0, 17_035)
	r.at(7050).reads("c2", 0, 0)
	w := r.at(8050).writes("c2", 0, 1, 0)
	r.at(8060).releases("c2")
	stale := r.at(15_002).serve(write, grant, history.Write, 0, history.Some(1), history.Some(1))
	return r.ends(checker.Resource, "a write replaced what its writer had not read", w, stale)
}

func sameToken() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.h.Header.Fencing = history.FencingAll
	x := r.at(2).acquire("c1", 1, 10_000)
	r.at(4).reads("c1", 1, 0)
	r.at(2000).fault("restart-lost", 1, "", 0, "redis-1")
	r.server(history.Lose, "c1", "")
	r.at(2500).heal("restart-lost", 1, "redis-1")
	y := r.at(2600).acquire("c2", 1, 12_599)
	r.at(2610).reads("c2", 1, 0)
	r.at(3000).writes("c1", 1, 1, 0)
	r.at(3010).refused("c1")
	r.at(3100).writes("c2", 1, 1, 1)
	r.at(3110).releases("c2")
	return r.ends(checker.Fencing, "two grants share a token", x, y)
}

func falseNo() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	asked := r.at(1).invoke("c1", history.Acquire)
	r.fault("drop-reply", 1, "c1 acquire: before request 1, SET", 0, "c1", "redis-1")
	made := r.at(3).server(history.Granted, "c1", "c1")
	r.at(1500).invoke("c2", history.Acquire)
	no := r.at(7000).end("c1", history.Acquire, history.Fail, history.ErrHeld)
	r.at(10_003).server(history.Expire, "c1", "")
	r.at(10_200).grants("c2", 0, 20_190)
	r.at(10_500).releases("c2")
	return r.ends(checker.Answers, "a no that was none", asked, made, no)
}

func noExpiry() (*history.History, []checker.Verdict) {
	r := newRun("redis-setnx-expire")
	r.at(1).invoke("c1", history.Acquire)
	r.at(2).server(history.Granted, "c1", "c1")
	r.at(4).fault("kill", 1, "c1 acquire: after request 1, SETNX", 0, "c1")
	r.end("c1", history.Acquire, history.Info, history.ErrCrashed)
	begin := r.at(1000).invoke("c2", history.Acquire)
	end := r.at(36_000).end("c2", history.Acquire, history.Fail, history.ErrHeld)
	return r.ends(checker.Liveness, "c2 waited for ever", begin, end)
}

func overtaken() (*history.History, []checker.Verdict) {
	r := newRun("my-queue")
	r.h.Header.Observes = nil
	r.at(2).acquire("c1", 0, 0)
	r.at(1000).invoke("c3", history.Acquire)
	place := r.at(1010).place("c3", 1)
	asked := r.at(2000).invoke("c2", history.Acquire)
	r.at(3000).releases("c1")
	got := r.at(3010).got("c2", 0, 0)
	r.at(4000).releases("c2")
	late := r.at(4010).got("c3", 0, 0)
	r.at(5000).releases("c3")
	return r.ends(checker.Fairness, "c3 was overtaken", place, asked, got, late)
}

// unseenServer has a server that restarts, and no lines of the server about the lock.
func unseenServer() (*history.History, []checker.Verdict) {
	r := newRun("mysql-get-lock")
	r.h.Header.Observes = nil
	r.at(1).invoke("c1", history.Acquire)
	x := r.at(2).got("c1", 0, 0)
	r.at(1000).invoke("c2", history.Acquire)
	r.at(3000).fault("restart", 1, "", 0, "mysql-1")
	r.at(4000).heal("restart", 1, "mysql-1")
	y := r.at(5000).got("c2", 0, 0)
	return r.ends(checker.Exclusion, "two held at once", x, y)
}

// innerRelease has a lock that does not count how often its holder was granted it.
func innerRelease() (*history.History, []checker.Verdict) {
	r := newRun("my-queue")
	x := r.at(2).acquire("c1", 0, 10_000)
	outer := r.asked["c1"]
	r.at(1000).invoke("c1", history.Acquire)
	r.at(1002).add(history.Entry{
		Process: history.Process{Name: r.node}, Type: history.Event, F: history.Takeover, Key: "a",
		Op: history.Some(int64(outer)), By: history.Some(int64(r.asked["c1"])),
	})
	r.got("c1", 0, 11_000)
	r.at(2000).invoke("c1", history.Release)
	r.at(2002).server(history.Remove, "c1", "c1")
	r.at(2004).end("c1", history.Release, history.OK, "")
	y := r.at(3000).acquire("c2", 0, 13_000)
	return r.ends(checker.Exclusion, "two held at once", x, y)
}

// absentWaiters has a queue that does not check whether its clients are still there.
func absentWaiters() (*history.History, []checker.Verdict) {
	r := newRun("my-queue")
	r.at(2).acquire("c1", 0, 10_000)
	for i, c := range []string{"c2", "c3", "c4"} {
		r.at(100*i+100).invoke(c, history.Acquire)
		r.at(100*i+110).place(c, int64(i+1))
	}
	r.at(500).end("c3", history.Acquire, history.Fail, history.ErrHeld)
	r.at(1000).fault("kill", 1, "", 0, "c2")
	begin := r.at(5000).releases("c1")
	got := r.at(30_000).grants("c4", 0, 40_000)
	return r.ends(checker.Handover, "c4 waited for long", begin, got)
}

func overtakenByNumber() (*history.History, []checker.Verdict) {
	r := newRun("my-queue")
	r.h.Header.Observes = nil
	r.at(1000).invoke("c3", history.Acquire)
	r.at(1001).invoke("c2", history.Acquire)
	second := r.at(1010).place("c2", 2)
	first := r.at(1020).place("c3", 1)
	got := r.at(1030).got("c2", 0, 0)
	return r.ends(checker.Fairness, "c3 was overtaken", second, first, got)
}

func clockSetBack() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	begin := r.at(1000).invoke("c2", history.Acquire)
	r.at(3000).fault("server-jump", 1, "", -10*time.Second, "redis-1")
	kill := r.at(7000).fault("kill", 2, "", 0, "c1")
	r.at(20_002).server(history.Expire, "c1", "")
	got := r.at(20_100).grants("c2", 0, 30_095)
	r.at(20_500).releases("c2")
	return r.ends(checker.Handover, "c2 waited for long", begin, kill, got)
}

// deadBeforeAsked has a holder that died before another client waited.
func deadBeforeAsked() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	kill := r.at(4).fault("kill", 1, "", 0, "c1")
	begin := r.at(1000).invoke("c2", history.Acquire)
	r.at(10_002).server(history.Expire, "c1", "")
	got := r.at(10_100).grants("c2", 0, 20_095)
	r.at(10_500).releases("c2")
	return r.ends(checker.Handover, "c2 waited for long", kill, begin, got)
}

// refused has a run in which fencing worked.
func refused() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.h.Header.Fencing = history.FencingAll
	x := r.at(2).acquire("c1", 1, 10_000)
	r.at(4).reads("c1", 1, 0)
	r.at(6).invoke("c1", history.Write, 1)
	r.fault("pause", 1, "c1 write: before last", 0, "c1")
	r.at(1000).invoke("c2", history.Acquire)
	r.at(10_001).server(history.Expire, "c1", "")
	y := r.at(10_110).grants("c2", 2, 20_105)
	r.at(10_112).reads("c2", 2, 0)
	r.at(10_300).writes("c2", 2, 1, 0)
	r.at(12_006).heal("pause", 1, "c1")
	r.at(12_010).resource(history.Refuse, "c1", 1, history.Some(1), history.Opt{})
	r.end("c1", history.Write, history.Fail, history.ErrStaleToken)
	r.at(12_020).invoke("c1", history.Release)
	r.at(12_024).end("c1", history.Release, history.Fail, history.ErrNotHeld)
	r.at(12_100).releases("c2")
	return r.ends(checker.Exclusion, "two held at once", x, y)
}

// killedHolder has a run without a violation: the lease of the dead client ended on
// time.
func killedHolder() (*history.History, []checker.Verdict) {
	r := newRun("redis-set-lua")
	r.at(2).acquire("c1", 0, 10_000)
	r.at(500).fault("kill", 1, "", 0, "c1")
	r.at(600).invoke("c2", history.Acquire)
	r.at(10_001).server(history.Expire, "c1", "")
	r.at(10_110).grants("c2", 0, 20_105)
	r.at(10_500).releases("c2")
	return r.ends("", "")
}
