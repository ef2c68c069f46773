package catalogue

// Lesson is what several cases teach.
type Lesson struct {
	Name  string
	Says  string // in a sentence or two
	Cases []string
}

// Lessons are the cases in the order in which one learns from them. Each case is in one.
var Lessons = []Lesson{
	{
		"Expiry", "A lease ends while its holder still works, or never ends. It is counted on a clock, and clocks are wrong.",
		[]string{
			"redis-setnx-no-ttl", "redis-setnx-expire-gap", "redis-expiretime-zero", "redis-expiry-while-holding", "redis-delayed-write",
			"fencing-rejects-stale", "redis-watchdog-worker-hang", "redis-renew-unconditional", "redis-eviction", "redis-server-clock-jump",
			"redis-setnx-client-skew-ahead", "redis-setnx-client-skew-behind", "redis-setnx-getset-blind", "mysql-client-clock-skew", "mysql-timeout-drift",
		},
	},
	{
		"Ownership", "A client removes or takes an entry that is not its own.",
		[]string{
			"redis-del-unowned", "redis-get-del-race", "redis-token-reuse", "redis-setnx-stale-del-race", "redis-setnx-unlock-unowned",
			"redis-setnx-unlock-inverted", "redis-setnx-unlock-inverted-race", "mysql-unowned-unlock", "mysql-stale-unlock-after-expiry",
			"mysql-identity-collision", "mysql-fair-reentrant-release",
		},
	},
	{
		"Lost replies", "The request was carried out, and its client does not know. Neither yes nor no is a safe guess.",
		[]string{"redis-retry-set-nx", "mysql-insert-reply-lost", "zk-create-connloss-orphan"},
	},
	{
		"Failover", "The server that answered is gone, and its successor does not know what it promised.",
		[]string{
			"redis-single-crash-nopersist", "redis-single-crash-everysec", "redis-failover-lost-key", "redis-sentinel-split-brain",
			"redis-wait-not-consensus", "redis-empty-master-restart", "redis-failover-clock-skew", "redis-fencing-counter-regress",
			"mysql-row-failover", "mysql-getlock-failover",
		},
	},
	{
		"Quorums", "A majority of independent servers survives one of them. It does not survive wrong clocks, wrong counts and a client that sleeps.",
		[]string{
			"redlock-gc-after-acquire", "redlock-gc-during-acquire", "redlock-clock-jump", "redlock-crash-no-persist", "redlock-delayed-restart",
			"redlock-node-failover", "redlock-on-redis-cluster", "redlock-dynamic-quorum", "redlock-no-node-timeout", "redlock-split-vote",
			"redlock-no-drift", "redlock-wallclock-step", "redlock-whole-validity", "redlock-second-clock", "redlock-release-granted",
			"redlock-continue-once", "redlock-continuous-partitions",
		},
	},
	{
		"Sessions and watches", "The lock ends with a session or a connection, which may end before its holder hears of it, or long after its holder is gone.",
		[]string{
			"zk-session-expiry-holder", "zk-event-thread-blocked", "zk-no-recheck", "zk-exists-null-enters", "zk-getdata-gap",
			"mysql-getlock-conn-loss", "mysql-getlock-server-restart", "mysql-getlock-half-open", "mysql-getlock-pool",
		},
	},
	{
		"Transactions", "The lock is a row, and a transaction decides who sees it and when it is gone.",
		[]string{
			"mysql-forupdate-missing-row", "mysql-forupdate-autocommit", "mysql-forupdate-conn-loss", "mysql-try-in-transaction", "mysql-unlock-recursion",
		},
	},
	{
		"Queues", "Waiters stand in a line. Those who die, give up or arrive at the same time leave gaps in it, and a crowd costs more than it should.",
		[]string{
			"zk-herd-double-entry", "zk-herd-missing-initial-min", "zk-herd-effect", "zk-timeout-leaves-node", "zk-sequence-overflow",
			"mysql-mixed-fair-nonfair", "mysql-fair-head-updatebyid", "mysql-fair-grant-on-stale-lease", "mysql-fair-dead-waiters",
			"mysql-fair-timeout-ghost", "mysql-fair-queue-bounds", "redis-spin-no-backoff",
		},
	},
}
