package report_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/harness"
	"github.com/lockcheck/lockcheck/internal/rundir"
	"github.com/lockcheck/lockcheck/internal/sim"
)

// Stories of cases show the steps that make the failure clear, as the history has
// them.
func TestStoriesOfCasesTellWhatMatters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		id    string
		wants []string
		not   []string
	}{
		{"redis-renew-unconditional", []string{ // the victim matters
			`while c1 renewed c2's entry`,
			"c2 was granted the lock, with a lease until",
			"c2 was killed. At 20.00 s c3 asked for the lock. At 55.00 s it was refused the lock, which nobody had been granted in the last 35 s, and c1 had renewed c2's entry 10 times in that time, and before that from 15.34 s on.",
		}, []string{"does not matter"}},
		{"redis-setnx-stale-del-race", []string{ // how the lock became stale, and its first remover
			"c1 was granted the lock, with a lease until 11.00 s, longer than 10 s. Then it was killed.",
			"c2's acquire removed c1's entry.",
			"its acquire removed c2's entry",
		}, nil},
		{"redis-del-unowned", []string{"At 12.18 s c3 was granted the lock", "which it had not read: the updates of c1 and c3 were lost."}, nil},
		{"mysql-stale-unlock-after-expiry", []string{"were lost."}, nil},
		{"mysql-fair-dead-waiters two", []string{ // what kept the lock from c4
			"nobody had held it for 14.54 s, and c2 and c3, which were before it in the queue, were dead.",
		}, nil},
		{"zk-no-recheck", []string{"c2 queued up, behind c1.", "c2 was killed.", "zk-3 dropped c2's node: its session was over."}, nil},
		{"redis-token-reuse", []string{
			"At 4.51 s c1 stopped waiting for an answer to its release.", "its earlier release removed its newer entry",
		}, []string{"c1's release removed c1's entry"}},
		{"redis-delayed-write", []string{"» a request has its effect, long after its invoke"}, nil},
		{"redis-setnx-unlock-inverted-race", []string{"c3 released the lock and was told yes, but its entry stayed."}, nil},
		{"redis-setnx-client-skew-ahead", []string{
			"c2 released the lock and was told yes, but its entry stayed.",
			"c1 releases the lock and is told yes, but removes nothing",
		}, nil},
		{"redis-eviction", []string{"redis-1 ran out of memory for 1 s."}, []string{"other data"}},
		{"redlock-gc-during-acquire", []string{ // which client holds while c1 sleeps
			"request 5 (SET) of its acquire, c1 was paused for 13 s.",
			"At 11.01 s c2 was granted the lock by 5 servers",
			"c2 released the lock.",
		}, []string{"does not matter"}},
		{"redlock-delayed-restart", []string{
			"redis-4 and redis-5 made entries for c2, which were never a majority, and c2 removed them again; that happened 5 times.",
			"it released the lock. At 13.00 s redis-3 was back. At 16.02 s c3 was granted the lock by 5 servers", // c2 released, so they did not overlap
		}, nil},
		{"redlock-on-redis-cluster", []string{
			"redis-3 made an entry for c1, which is no majority, and c1 removed it again; that happened 143 times, and 149 times for c2.",
		}, nil},
		{"redlock-no-node-timeout", []string{ // a node without answers
			"At 0.000 s redis-2 was paused.", "5 servers, on sim", "while c1, and later c2, waited",
			"its acquire ended, its outcome unknown (a node may set the key yet: no answer in time): nobody had held",
		}, nil},
		{"redlock-dynamic-quorum", []string{"c1 was granted the lock by redis-1 and redis-2, which are no majority, with a lease"}, []string{"Not shown"}},
		{"mysql-getlock-pool shared", []string{ // why c2 was granted
			"At 2.00 s mysql-1 took c2's acquire for one of c1, whose entry it had. Then c2 was granted the lock: from then on both held it.",
			"c2 releases the lock and is told yes, but removes nothing",
		}, nil},
		{"mysql-getlock-pool", []string{"mysql-1 still kept c1's entry, which had no lease.", "Not shown: c2 and c3."}, nil},
		{"redis-expiretime-zero", []string{"redis-1 still kept c1's entry, which had no lease."}, nil},
		{"mysql-mixed-fair-nonfair", []string{"At 2.01 s c2 had its place in the queue. At 2.27 s its acquire took over c1's entry"}, nil},
		{"mysql-client-clock-skew", []string{ // three hold
			"At 2.01 s c2 had its place in the queue.",
			"At 4.53 s c3 was granted the lock, with a lease until 14.53 s, although c1 and c2 still held it.",
			"lease until 14.53 s; not yet released by c1 and c2",
		}, nil},
		{"redis-setnx-client-skew-behind", []string{
			"c1 was granted the lock, with a lease until 11.00 s, longer than 10 s, as it thought. At 1.01 s",
			"although c1 thought that its lease ran until 11.00 s",
		}, nil},
		{"redis-setnx-client-skew-behind remedied", nil, []string{"what it took for", "longer than"}},
		{"redis-setnx-unlock-inverted", []string{ // the longest of all is measured
			"nobody had held it for 8.08 s. Nor did anybody hold it from 14.10 s to 22.19 s, while c3 waited.",
		}, nil},
		{"zk-herd-effect", []string{ // its one client that enters twice is no hand-over
			"it was granted the lock again, by the node that it had already: from then on it held it twice. At 3.09 s it released the lock. At 4.05 s it released the lock once more and was told that it no longer held it. In all the lock was granted 21 times",
			"c1 and c8 also both held it from 3.11 s to 3.32 s, and there were 4 more overlaps. 6 updates were lost, the first at 4.04 s.",
		}, []string{"And so on", "began to release"}},
		{"mysql-fair-head-updatebyid replaced", []string{ // why c2 is the head
			"At 2.01 s c2 had its place in the queue. At 2.52 s it gave up waiting. At 9.00 s it asked for the lock. Then, between",
		}, nil},
		{"mysql-fair-grant-on-stale-lease", []string{ // what c2 finds over
			"At 9.98 s c1 released the lock, whose lease was to end at 10.00 s.",
		}, nil},
		{"mysql-fair-timeout-ghost", nil, []string{"whose lease was to end"}},
		{"mysql-fair-reentrant-release", []string{
			"At 1.02 s it released the inner grant. At 1.03 s its release of the inner grant removed its entry",
		}, nil},
		{"fencing-rejects-stale", []string{"and the resource had seen 2. At 13.01 s c1 released the lock"}, nil},
		{"redlock-release-granted", []string{
			"the network was set to lose the next reply of redis-3, redis-4 and redis-5 to c1, and later did.",
			"redis-3, redis-4 and redis-5 made entries for c1.",
			"redis-3, redis-4 and redis-5 dropped c1's entries: their time was over.",
		}, []string{"At 11.04 s it released the lock."}},
		{"redlock-split-vote", []string{
			"redis-1 had an entry for c1, redis-3 one for c3, redis-4 one for c4 and redis-5 one for c5, and nobody could get a majority; that happened 33 times.",
			"At 0.000 s c1, c2, c3, c4 and c5 asked for the lock.", " c5 ···",
		}, []string{"Not shown: c5"}},
		{"redlock-continuous-partitions", []string{
			"gave up on its release without knowing what had come of it.",
			"Nobody held the lock from 21.00 s to 30.33 s while c2 waited, but handover does not count the time of a fault that is in force (partition).",
		}, []string{"stopped waiting for an answer to its release"}},
		{"zk-create-connloss-orphan", []string{ // only the reply was lost, and nobody knows that
			"the network was set to reset the connection at the next reply of zk-3 to c2, and later did: the request got through.",
			"At 3.02 s zk-3 made a node for c2, behind c1, of which c2 did not hear.",
			"c2's acquire ended, its outcome unknown (zookeeper: connection loss), and its node stayed in the queue.",
		}, []string{"fail"}},
		{"zk-getdata-gap", []string{"c2's acquire ends, its outcome unknown (/a/sub0000000001 stays in the queue: zookeeper: no such node)"}, []string{"fail"}},
		{"zk-exists-null-enters", []string{ // the two faults between the list and the watch
			"c2, c3 and c4 had queued up behind c1, in this order.",
			"the session of c2 was closed from elsewhere.",
			"c4 was granted the lock, although c1's node was still in the queue: from then on both held it.",
			"c4 hung for 1 s",
		}, nil},
		{"zk-herd-double-entry", []string{ // who else held with c1
			"c1 was granted the lock again, by the node that it had already: from then on it held it twice.",
			"c1 and c2 also both held it from 10.10 s to 15.06 s.",
			" c1 twice ├────────────────────┤ c1, c2 hold ├",
		}, nil},
		{"zk-event-thread-blocked", []string{"At 36.11 s c2 released the lock and was told that it had lost it."}, nil},
		{"redis-single-crash-nopersist", []string{"lease 10 s, servers that save nothing, on sim"}, nil},
		{"redlock-crash-no-persist", []string{"lease 10 s, 5 servers that save nothing, on sim"}, nil},
		{"redis-wait-not-consensus", []string{ // WAIT had its answer
			"At 0.51 s, just after the answer to request 2 (WAIT) of c1's acquire, redis-1 lost power. Then c1 was granted the lock",
		}, nil},
		{"redis-empty-master-restart", []string{
			"redis-1 was back without c1's entry, while c1 still believed that it held the lock.",
			"redis-1 is back 4 2.400 s redis-1 has lost c1's entry",
		}, nil},
		{"zk-session-expiry-holder", []string{ // the write had begun before
			"At 0.071 s it began its write of 1.",
			"noticed that it had lost the lock. Then its write arrived and put 1 over c2's 2",
		}, []string{"Then it wrote 1 over"}},
		{"zk-sequence-overflow", []string{ // why c1 enters
			"c2 queued up with number 2147483647.",
			"c1 queued up with the same number, and the name of its node came before that of c2's.",
		}, nil},
		{"mysql-unlock-recursion", []string{
			"it got the answer to its release: an error (StackOverflowError in unLockByName), and nothing was released.",
			"c2 was granted the lock: nobody had held it for",
		}, []string{"found dead"}},
		{"mysql-timeout-drift", []string{"it began to release the lock; at 21.06 s it got the answer: yes."}, nil},
		{"mysql-try-in-transaction", []string{
			"the session of c1 was closed from elsewhere.",
			"tries to release the lock and fails (mysql: the session is over)",
			" session ┼ ",
		}, []string{"c1 releases the lock"}},
		{"mysql-identity-collision", []string{"c1 and c3 also both held it from 5.51 s to 6.52 s.", " c1, c3 hold ├───────┤ "}, nil},
		{"mysql-fair-queue-bounds", []string{"c22 asked at 5.95 s and was granted the lock at 23.82 s, after 21 that asked later."}, nil},
		{"redlock-dynamic-quorum remedied", []string{ // the only grant, and late entries
			"At 3.01 s c2 was granted the lock by 5 servers",
			"redis-3, redis-4 and redis-5 made entries for c1, whose acquire was over.",
		}, []string{"Not shown: c2"}},
		{"redis-setnx-client-skew-ahead", []string{"c2's clock was set 15 s ahead. "}, nil}, // to the end of the run
		{"zk-no-recheck remedied", []string{"At 35.08 s c1 released the lock. At 35.10 s c3 was granted the lock."}, nil},
		{"zk-timeout-leaves-node remedied", []string{
			"c2's acquire removed its node.", "c2 was refused the lock. At 15.07 s c1 released the lock.",
		}, []string{"Not shown"}},
		{"zk-exists-null-enters remedied", []string{"zk-3 dropped c2's node: its session was over."}, nil},
		{"redlock-delayed-restart", []string{
			"redis-3 lost power for 11 s and lost c1's entry, while c1 still", "answers, liveness and handover case",
		}, nil},
		{"redis-setnx-getset-blind remedied", []string{"At 19.03 s c2 released the lock. At 19.08 s c3 was granted the lock"}, nil},
		{"redlock-split-vote remedied", []string{"There was 1 more grant (to c2 at 0.77 s)."}, nil},
		{"mysql-unowned-unlock remedied", []string{
			"At 2.51 s c2 was refused the lock. Then it tried to release the lock, which it did not hold, and was refused. At 9.01 s c1 released the lock.",
		}, nil},
		{"mysql-fair-reentrant-release remedied", []string{
			"it ended its acquire without a grant (the client holds the lock already); that happened 3 times.",
		}, nil},
		{"mysql-client-clock-skew remedied", []string{"c3 was granted the lock"}, []string{"Not shown"}},
		{"mysql-timeout-drift healthy", []string{"c2 was refused the lock."}, nil},
		{"zk-herd-double-entry", []string{ // what let c2 in
			"At 10.09 s it released the lock. Then its release removed its node.",
			"At 15.06 s it released the lock once more and was told that it no longer held it.",
			"Another update was lost at 15.11 s.",
		}, []string{"although it had removed", "no answer"}},
		{"redis-setnx-stale-del-race remedied", []string{"it was killed.", "c2's acquire took over c1's entry. At 12.52 s c2 was granted the lock"}, nil},
		{"mysql-fair-timeout-ghost remedied", []string{"c3 was granted the lock", "released the lock."}, []string{"And so on"}},
		{"redlock-crash-no-persist remedied", []string{ // why c2 makes no entries for a while
			"redis-1, redis-2, redis-4 and redis-5 made entries for c2, which were never a majority",
			"At 5.00 s redis-4 and redis-5 made entries for c1, whose acquire was over.",
		}, nil},
		{"zk-event-thread-blocked remedied", []string{"while c3 waited, but handover does not count"}, nil},
		{"zk-session-expiry-holder healthy", nil, []string{"handover does not"}},
		{"mysql-getlock-half-open remedied", []string{"T 10 s", "mysql-1 dropped c1's entry with its session."}, []string{"lost c1", "lease"}},
		{"mysql-fair-dead-waiters remedied", []string{"At 6.01 s c1 released the lock. At 8."}, nil},
		{"mysql-fair-dead-waiters", []string{"c2, c3, c4 and c5 were killed.", " c6 ···", " not shown 4 5 "}, nil},
	} {
		id, which, _ := strings.Cut(tt.id, " ")
		c, ok := catalogue.FindCase(id)
		if !ok {
			t.Fatal(tt.id)
		}
		s := c.Schedules[len(c.Schedules)-1]
		if i := slices.IndexFunc(c.Schedules, func(s catalogue.Schedule) bool { return which != "" && s.Name == which }); i >= 0 {
			s = c.Schedules[i]
		}
		plan, healthy, remedied := harness.CasePlans(c, s, "sim", 10*time.Second)
		switch which {
		case "healthy":
			plan = healthy
		case "remedied":
			plan = remedied
		}
		j, _, err := harness.Simulate(sim.Simulator, plan)
		if err != nil {
			t.Fatal(err)
		}
		text := told(t, j, rundir.StoryOptions(j), tt.id)
		flat := strings.Join(strings.Fields(text), " ")
		for _, w := range tt.wants {
			if !strings.Contains(flat, w) {
				t.Errorf("%s does not say %q:\n%s", tt.id, w, text)
			}
		}
		for _, w := range tt.not {
			if strings.Contains(flat, w) {
				t.Errorf("%s says %q:\n%s", tt.id, w, text)
			}
		}
	}
}
