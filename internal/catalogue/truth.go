package catalogue

// NoFault is the name of the cells in which nothing goes wrong.
const NoFault = "none"

// cell is a set of faults, or workloads, under which a lock behaves the same.
type cell struct {
	faults string
	codes  string
	why    string
}

// The mechanisms that several locks share.
const (
	robbed      = "A late DEL takes the key of a holder whose lease still runs, and lets a third one in: more than the overlap that leases cannot avoid."
	anybody     = "A bare DEL asks nobody whose the key is: who was refused, and unlocks in a finally, frees the holder's lock."
	neverSent   = "SETNX is answered after the caller's deadline, so PEXPIRE is not sent, and the key has no expiry."
	unknown     = "A SETNX that its client has given up sets a key of which nobody knows that it is his, so nobody deletes it."
	toldTooLate = "A holder that reaches no server knows when its lease is over and reports the loss; the write of its section comes all the same."
	unknownTo   = "A SET that its client has given up sets a key of which nobody knows that it is his, so all wait for its end."
	neverDel    = "A DEL that is lost with its connection is not sent again, and nothing else removes the key."
	lostDel     = "A release that is lost with its connection is not sent again: the next holder waits for the lease to end."
	slowLink    = "An acquire or a release that a link loses or holds up leaves an entry, and all wait for its end."
	keyBack     = "A release that is lost with the master, or of which the new one never heard, leaves the key until it ends."
	knowsLoss   = "Who wakes knows that the lock is lost, and lets go only at the end of the section."
	forgotten   = "The holder whose key was lost deletes that of the next."
	onceReset   = "What is lost with a connection is lost: nothing arrives late. Only the lease of a lost release has to be waited for."
	onceSent    = "The server has executed what was not answered, and nobody sends it again: no DEL comes late."
	allGone     = "A jump ends every lease that it reaches, and every holder lives and releases: nobody waits for long. A jump back takes a dead holder as well."
	jumped      = "The holder whose lease was cut short deletes the key of the next."
	outlasts    = "A request is given up after T/4 and an undisturbed section takes less than T/3: a lease outlasts whatever a link can do to its holder, and a late release compares."

	untoldKey  = "An operator removes the key of a holder, and nothing tells it: the next one is granted the lock."
	notRead    = "An operator gives the key another value. This lock never reads it: the key is in the way until the release deletes it, as before."
	notOwn     = "An operator gives the key of a holder another value. It keeps others out as before, but the release finds that it is not its own and leaves it: all wait for its end."
	noTime     = "An operator writes another value into the key. It is no time, so it never passes."
	changedOne = "An operator changes one key of three or more. It counts for nobody and is in the way until its time is over, but the other keys are a majority, which a release frees."
	untoldOne  = "An operator removes one key of three or more. That matters only to a holder with a bare majority, while other clients have tried for the rest: one run in 200 or fewer."

	noClock   = "No clock has a part in it."
	ownClock  = "A client takes times with a clock that does not jump, and in a third of a lease 1 % does not show."
	noExpiry  = "The key has no expiry: no clock of a server ends it, and eviction takes keys that have one."
	evicted   = "A key with an expiry is what eviction takes first."
	notYet    = "A master that dies takes the key along if no replica has it yet; the holder has to be at work until the next one is elected. That is one run in 1,000, unless sections last as long as they like."
	twoReigns = "The old master goes on until somebody who knows of the new one reaches it: for a while both grant."
	back      = "A new master that never heard of a release has the key again, and for ever."
	second    = "Of two clients that find the same end the second one's GETSET writes into the entry of the first, which has the lock."
	jumpsOnly = "The clients' clocks say who holds: one that is ahead ends others' locks, and what it writes itself lasts longer."
	inverted  = "A release in time deletes nothing and says yes: each hand-over takes 1.1 T, and the entry is still there a T later if nobody wants it."
	downNodes = "Nodes that are down when the lock is given back keep it until it ends; where that is a majority all wait for it."
	majority  = "It takes a majority: several nodes are struck at once, or one that was the third of three."
	evades    = "A request to a node is given up after T/40, and the others are enough; what a round has set is deleted on all nodes, those included that did not answer."
	atLength  = "The time-out is T/40 and a section takes less than T/3: a lease outlasts whatever a link can do to its holder, and a late release compares."
	stale     = "Of two clients that find the same end the second one's DEL removes what the first one's SETNX has set, and both hold."
	unread    = "Of two clients that find the same end the second one's GETSET replaces the time of the first. It ignores that reply, and both hold."
	longRound = "A client that is stopped while its round is under way counts the lease from the end of the stop, and the nodes count from its start. For harm it has to be stopped again while it holds: one run in 1,000."
	lostYes   = "A node whose yes was lost keeps its key until it expires. Where a majority keeps such keys, all wait for that."
	fewer     = "Who reaches few nodes takes most of those few for a majority, and another has most of the rest."
	ghost     = "The task that renews is not told of the release: it takes the lock for nobody, from whoever has lost his nodes by then, and keeps it."
	waitsLong = "A round that waits for a node leaves a short rest of the lease, and the section outlives it."

	untoldNode   = "An operator deletes the node of a holder. The session lives on, so nothing tells it: the next one enters."
	changedNode  = "An operator changes the data of a node. Its name and its session, which decide, stay."
	wokenOnce    = "The watch of the waiter behind it fires once, for this, and the program sets none again: it never hears of the deletion, and waits in front of all others."
	zombie       = "If the one before goes between the list and the watch, the watch fails, and the program ends: its node stays the head for as long as its session lives."
	fewSessions  = "Most of them end the program of a waiter, and few its session: one run in 500."
	untold       = "A holder that is cut off goes on, and nothing tells it of its session's end."
	letIn        = "The end of a waiter's session lets in who is behind it."
	passed       = "So it passes all who wait before that one: behind another holder, or behind a node of nobody's."
	twoInARow    = "For two to be in, two waiters have to go one right after the other."
	doubtful     = "A request whose answer is lost ends the program, and what it had created stays in the queue."
	numbersAgain = "Disks that are lost take all nodes along; the numbers begin anew, and a late delete finds the node of another."
	entersTwice  = "Who is in enters again whenever the queue changes, on the one node that it has, and deletes it while it is in."
	bothWait     = "Two that come together see each other, and neither enters before a third one comes or goes."

	sessionEnd = "The node of a dead client goes with its session, after T to 1.5 T."
	earlyNews  = "Who comes back is told that its session has ended when the leader has decided on it, which may be before that is committed and its node is gone."
)

// truth is the results of random exploration, by lock and fault. A fault that applies
// but is in no row of a lock has no cell, and a test rejects that; only a lock that
// is like another one then has that one's cell. Some results differ from the first
// expectations for these locks. In each such case a run was examined and found
// correct; the reason stands beside the cell.
var truth = withMySQL(map[string][]cell{
	"redis-setnx": {
		{"finally", "U R", anybody},
		{"none pause hang", "S", "There is no lease that could end."},
		{"skew jump rate", "S", noClock},
		{"server-skew server-jump server-rate evict", "S", noExpiry},
		{"kill poweroff", "L", ""},
		{"server-pause", "L", unknown},
		{"restart", "L", neverDel},
		{"restart-lost", "U R", forgotten},
		{"failover partition-servers", "U R L answers?", forgotten + " " + back},
		{"partition partition-oneway delay kill-connection", "L", unknown + " Nor is a lost DEL sent again."},
		{"drop-reply", "L", unknown},
		{"entry-lost", "U R", untoldKey + " " + forgotten},
		{"entry-changed", "S", notRead},
	},
	"redis-setnx-expire": {
		{"finally", "U R L?", anybody + " " + neverSent},
		{"none skew jump rate server-rate", "L?", neverSent},
		{"pause hang", "U R L", robbed + " " + neverSent},
		{"kill poweroff", "L l", ""},
		{"server-pause", "L l", "A SETNX that its client has given up sets a key, and no PEXPIRE follows."},
		{"restart", "L l", "A PEXPIRE that is lost with its connection is not sent again, and the key has no expiry."},
		{"restart-lost", "U R L?", forgotten + " " + neverSent},
		{"failover", "L U? R?", "A PEXPIRE that is lost with the master is not sent again. " + notYet},
		{"server-skew server-jump", "U R L?", jumped + " " + allGone + " " + neverSent},
		{"evict", "U R L?", evicted + " " + forgotten + " " + neverSent},
		{"partition partition-oneway delay", "U R L l", robbed + " A SETNX that its client has given up sets a key, and no PEXPIRE follows."},
		{"partition-servers", "U R L answers?", twoReigns + " " + forgotten + " A new master that heard of SETNX and of nothing later has a key without an expiry."},
		{"kill-connection", "L l", onceReset + " A SETNX whose answer is lost has no PEXPIRE, a lost PEXPIRE no second."},
		{"drop-reply", "L l", onceSent + " A SETNX that was not answered has no PEXPIRE."},
		{"entry-lost", "U R L?", untoldKey + " " + forgotten + " " + neverSent},
		{"entry-changed", "L?", notRead + " " + neverSent},
	},
	"redis-set-del": {
		{"finally", "U R", anybody},
		{"none", "S", ""},
		{"skew jump rate server-rate", "S", ownClock},
		{"pause hang", "U R", robbed},
		{"kill poweroff", "l", ""},
		{"server-pause", "l", unknownTo},
		{"restart", "l", lostDel},
		{"restart-lost", "U R", forgotten},
		{"failover", "U? R? l?", notYet + " " + keyBack},
		{"server-skew server-jump", "U R", jumped + " " + allGone},
		{"evict", "U R", evicted + " " + forgotten},
		{"partition partition-oneway delay", "U R l?", robbed + " " + slowLink},
		{"partition-servers", "U R l?", twoReigns + " " + forgotten + " " + keyBack},
		{"kill-connection", "l", onceReset},
		{"drop-reply", "l", onceSent},
		{"entry-lost", "U R", untoldKey + " " + forgotten},
		{"entry-changed", "S", notRead},
	},
	"redis-set-get-del": {
		{"none", "S", ""},
		{"skew jump rate server-rate", "S", ownClock},
		{"pause hang", "U R", robbed},
		{"kill poweroff", "l", ""},
		{"server-pause", "l", unknownTo},
		{"restart", "l", lostDel},
		{"restart-lost", "U", ""},
		{"failover", "U? R? l?", notYet + " " + keyBack},
		{"server-skew server-jump", "U R?", "The clock has to jump between the GET and the DEL, one run in 1,500. " + allGone},
		{"evict", "U R?", evicted + " For a DEL that hits the next holder it has to do so between the GET and the DEL."},
		{"partition partition-oneway delay", "U R l?", robbed + " " + slowLink},
		{"partition-servers", "U R? l?", twoReigns + " " + keyBack},
		{"kill-connection", "l", onceReset},
		{"drop-reply", "l", onceSent},
		{"entry-lost", "U R?", untoldKey + " For a DEL that hits the next holder the key has to go between the GET and the DEL: one run in 1,000."},
		{"entry-changed", "l", notOwn},
	},
	"redis-set-lua": {
		{"none", "S", ""},
		{"skew jump rate server-rate", "S", ownClock},
		{"pause hang", "Uf", ""},
		{"kill poweroff", "l", ""},
		{"server-pause", "l", unknownTo},
		{"restart", "l", lostDel},
		{"restart-lost", "U", ""},
		{"failover", "U? l?", notYet + " " + keyBack},
		{"server-skew server-jump", "U", allGone},
		{"evict", "U", evicted},
		{"partition partition-oneway delay", "l?", outlasts + " " + slowLink},
		{"partition-servers", "U l?", twoReigns + " " + keyBack},
		{"kill-connection", "l", onceReset},
		{"drop-reply", "l", ""},
		{"entry-lost", "U", untoldKey},
		{"entry-changed", "l", notOwn},
	},
	"redis-watchdog": {
		{"none", "S", ""},
		{"skew jump rate server-rate", "S", ownClock},
		{"pause", "Uf l?", knowsLoss},
		{"hang", "Uf l?", "Nobody renews before the acquire has returned: if it hangs for longer than T there, what it returns is over. " + knowsLoss},
		{"kill poweroff", "l", ""},
		{"server-pause", "resource? l", toldTooLate + " That is one run in 50,000. " + unknownTo},
		{"restart", "l", lostDel},
		{"restart-lost", "U", ""},
		{"failover", "U l?", notYet + " " + keyBack},
		{"server-skew server-jump", "U", ""},
		{"evict", "U", evicted},
		{"partition partition-oneway delay", "resource? l?", toldTooLate + " " + slowLink},
		{"partition-servers", "U l?", twoReigns + " " + keyBack},
		{"kill-connection", "l", onceReset},
		{"drop-reply", "l", ""},
		{"entry-lost", "U", untoldKey + " " + knowsLoss},
		{"entry-changed", "l resource?", notOwn + " The holder finds that out with its next renewal, reports the loss, and ends its section all the same: a long one still writes when the key is over and the next one works."},
	},
	"redis-watchdog-blind": {
		{"restart-lost failover evict partition-servers", "U answers? l?", "What is lost, and taken by the next, the holder before renews."},
		{"pause", "U answers?", "A holder that wakes late renews the entry of the next, and believes in it."},
		{"hang", "Uf lease-exclusion? answers?", "Nobody renews before the acquire has returned, and then it renews the entry of the next."},
		{"server-skew server-jump", "U R? answers?", "A clock that comes back leaves entries that last too long; a PEXPIRE for the holder before shortens them."},
		{"partition partition-oneway delay", "U? l? answers?", "Who is cut off for longer than its lease never learns that it is over, and renews the entry of the next when the link is back. " + slowLink},
		{"entry-lost", "U answers?", untoldKey + " The holder before renews the entry of the next."},
		{"entry-changed", "l", notOwn + " Until then the holder renews it, and so stays alone."},
	},
	"redis-set-lua-wait": {
		{"restart-lost", "U l?", "A SET that its client has given up may be on the replica that takes over, and all wait for its end."},
		{"server-pause", "l", "One that stands still is replaced before a SET that its client has given up can harm, unless it goes on soon."},
		{"failover", "l?", "WAIT has seen to it that a replica has the key, and Sentinels take the replica that has the most. " + keyBack},
		{"partition-servers", "U? answers? l?", twoReigns + " With two replicas the new master has none that it reaches, and so grants nothing until the others are back: one run in 5,000. An acquire that gives up deletes its key on the new master, and the old one has it still. " + keyBack},
	},
	"redis-setnx-getset": {
		{"none rate server-skew server-jump server-rate evict", "R l answers?", inverted + " " + second},
		{"pause hang", "Uf R l answers?", inverted + " " + second},
		{"skew jump", "U R L l answers?", jumpsOnly + " Nobody deletes it: all wait for that clock's end."},
		{"kill poweroff server-pause restart drop-reply kill-connection", "R l answers?", inverted + " " + second},
		{"partition partition-oneway delay", "R l answers?", inverted + " " + second + " A section takes less than T/3, and the time in the key is 1.1 T: no release is late."},
		{"restart-lost failover partition-servers", "U? R l answers?", inverted + " " + second + " Few hold when the key is lost: mostly it is the time of one who has given it back."},
		{"entry-lost", "U R l answers?", untoldKey + " " + inverted + " " + second},
		{"entry-changed", "R L l answers?", noTime + " So all wait for ever: the release deletes only what has passed. " + inverted + " " + second},
	},
	"redis-setnx-getset-fixed": {
		{"none", "S", ""},
		{"rate", "S", "In a third of a lease 1 % does not show."},
		{"server-skew server-jump server-rate evict", "S", noExpiry},
		{"pause hang", "U R", "A holder that comes late finds the time of the next one, which has not passed, and deletes it."},
		{"skew jump", "U R L? l", jumpsOnly + " If the release takes it for over, nobody deletes it, and all wait for that clock's end."},
		{"kill poweroff", "R l", second},
		{"server-pause restart drop-reply kill-connection", "R l", "What is not answered is not undone: all wait until its time has passed. " + second},
		{"restart-lost", "U R", forgotten},
		{"failover", "U? R l?", second + " " + notYet},
		{"partition partition-oneway", "U R l?", robbed + " " + second},
		{"delay", "U? R l", robbed + " " + second},
		{"partition-servers", "U R l?", twoReigns + " " + forgotten},
		{"entry-lost", "U R", untoldKey + " " + forgotten},
		{"entry-changed", "S", noTime + " So nobody takes the key, and the release deletes it."},
	},
	"redis-setnx-del-stale": {
		{"kill poweroff restart drop-reply", "U? R? l", stale},
		{"failover", "U? R? l?", stale + " " + keyBack},
		{"server-pause delay kill-connection", "U R l", stale},
	},
	"redis-setnx-getset-unread": {
		{"kill poweroff", "U R l", unread},
		{"server-pause restart drop-reply kill-connection", "U R l", unread},
	},
	"redlock-flawed-validity": {
		{"pause hang", "Uf lease-exclusion?", longRound},
	},
	"redlock-flawed-release": {
		{"server-pause drop-reply", "l", lostYes},
	},
	"redlock": {
		{"none", "S", ""},
		{"skew jump rate server-rate", "S", ownClock},
		{"pause hang", "Uf", ""},
		{"kill poweroff", "l", ""},
		{"server-pause drop-reply", "S", evades},
		{"restart", "l", downNodes},
		{"restart-lost", "U", majority},
		{"server-skew server-jump", "U", majority},
		{"evict", "U", evicted + " " + majority},
		{"partition partition-oneway delay", "l?", atLength + " " + slowLink},
		{"kill-connection", "l", onceReset},
		{"entry-lost", "U?", untoldOne},
		{"entry-changed", "S", changedOne},
	},
	"redlock-seed": {
		{"none", "S", "Clients that split the nodes between them meet again after T/50, but not at the same instant: the network is never that even."},
		{"skew jump", "S", "A clock that jumps while a round is under way makes the lease look longer or shorter than it is; for harm the section has to outlive the keys, too, which takes a fault of another kind."},
		{"rate server-rate", "S", "Without a margin for drift a lease ends up to T/100 early, and a section is over by T/3."},
		{"pause hang", "Uf", ""},
		{"kill poweroff", "l", ""},
		{"server-pause drop-reply", "S", evades},
		{"restart", "l", downNodes},
		{"restart-lost", "U", majority},
		{"server-skew server-jump", "U", majority},
		{"evict", "U", evicted + " " + majority},
		{"partition partition-oneway delay", "l?", atLength + " " + slowLink},
		{"kill-connection", "l", onceReset},
		{"entry-lost", "U?", untoldOne},
		{"entry-changed", "S", changedOne},
	},
	"redlock-continue": {
		{"none skew jump rate server-rate hang kill poweroff", "R L l U? answers?", ghost},
		{"pause", "Uf R L l lease-exclusion? answers?", ghost},
		{"server-pause restart partition partition-oneway delay drop-reply kill-connection", "R L l U? answers?", ghost},
		{"restart-lost server-skew server-jump evict", "U R L l answers?", majority + " " + ghost},
		{"entry-lost", "R L l U? answers?", untoldOne + " " + ghost},
		{"entry-changed", "R L l U? answers?", ghost},
	},
	"zk-predecessor": {
		{"none hang skew jump rate server-skew server-jump server-rate", "L", zombie},
		{"pause session-expiry", "U L F", letIn + " " + passed + " " + zombie},
		{"kill poweroff", "U L l F", letIn + " " + passed + " " + zombie + " " + sessionEnd},
		{"server-pause", "L l U? F? answers?", zombie + " " + doubtful + " " + earlyNews},
		{"restart failover", "L l U? F?", zombie + " " + doubtful},
		{"restart-lost", "L l U? R? F?", doubtful + " " + numbersAgain},
		{"partition partition-oneway delay", "L U? F?", doubtful + " " + fewSessions + " " + letIn},
		{"partition-servers", "L U? F? answers?", doubtful + " " + fewSessions + " " + letIn + " " + earlyNews},
		{"drop-reply kill-connection", "L", doubtful},
		{"entry-lost", "U L F", untoldNode + " " + letIn + " " + passed + " " + zombie},
		{"entry-changed", "L", changedNode + " " + wokenOnce + " " + zombie},
	},
	"zk-predecessor-recheck": {
		{"none hang skew jump rate server-skew server-jump server-rate", "L", zombie},
		{"pause session-expiry", "Uf L", "A holder learns of the end of its session last of all. " + zombie},
		{"kill poweroff", "L l U? F?", twoInARow + " " + zombie + " " + sessionEnd},
		{"server-pause", "L l U? F? answers?", zombie + " " + doubtful + " " + twoInARow + " " + earlyNews},
		{"restart failover", "L l U? F?", zombie + " " + doubtful + " " + twoInARow},
		{"restart-lost", "L l U? R? F?", doubtful + " " + numbersAgain},
		{"partition partition-oneway delay", "L U? F?", doubtful + " " + untold},
		{"partition-servers", "L U? F? answers?", doubtful + " " + untold + " " + earlyNews},
		{"drop-reply kill-connection", "L", doubtful},
		{"entry-lost", "U L", untoldNode + " " + zombie},
		{"entry-changed", "L", changedNode + " " + wokenOnce + " " + zombie},
	},
	"zk-children": {
		{"none pause hang skew jump rate server-skew server-jump server-rate session-expiry", "U L", entersTwice + " " + bothWait},
		{"kill poweroff", "U L l", entersTwice + " " + bothWait + " " + sessionEnd},
		{"server-pause", "U L l answers?", entersTwice + " " + bothWait + " " + doubtful + " " + earlyNews},
		{"restart failover", "U L l", entersTwice + " " + bothWait + " " + doubtful},
		{"restart-lost", "U L l R?", entersTwice + " " + doubtful + " " + numbersAgain},
		{"partition partition-oneway delay drop-reply kill-connection", "U L", entersTwice + " " + bothWait + " " + doubtful},
		{"partition-servers", "U L answers?", entersTwice + " " + bothWait + " " + doubtful + " " + earlyNews},
		{"entry-lost", "U L", entersTwice + " " + bothWait + " " + untoldNode},
		{"entry-changed", "U L", changedNode + " No watch on children sees it. " + entersTwice + " " + bothWait},
	},
	"zk-recipe": {
		{"none", "S", ""},
		{"skew jump rate server-skew server-jump server-rate", "S", "Sessions go by the leader's monotonic clock, and a client's times are shares of them: no jump touches them, and 1 % does not show."},
		{"pause", "Uf answers? l?", "A holder that stands still for longer than its session learns of its end when it wakes. " + earlyNews + " " + knowsLoss},
		{"hang", "S", "The library's heartbeats go on."},
		{"kill poweroff", "l", sessionEnd},
		{"server-pause", "l answers?", "Who asks one that stands still is not answered, and gives it up after 2/3 T. " + earlyNews},
		{"restart failover", "l", "Without a leader nobody serves for the length of an election, T/2 or more; then all have their sessions still."},
		{"restart-lost", "L l U? fencing?", "When all members lose their disks, each of them knows less than its clients have seen, and refuses them for ever. New ones begin with the first number."},
		{"partition partition-oneway delay", "resource? answers? l?", "A holder that hears nothing for 2/3 T is told that it has lost the lock, and its session lasts for T; the write of its section comes all the same. " + earlyNews + " " + slowLink},
		{"partition-servers", "Uf? answers? l?", "A member that is cut off serves for T, syncLimit, and the session of a holder there may end before: it has had no sign of life for a while then. That is one run in 3,000. " + earlyNews + " " + slowLink},
		{"kill-connection", "S", "The session lives on, and its client is back in a moment."},
		{"drop-reply", "l", "What is not answered is sent again when nothing was heard for 2/3 T, and all wait meanwhile."},
		{"session-expiry", "Uf", "The next one may hear of it before the holder does."},
		{"entry-lost", "U", untoldNode},
		{"entry-changed", "S", changedNode + " A waiter whose watch fires lists the queue again, and sets another watch."},
	},
	"redlock-flawed-quorum": {
		{"restart", "U l", fewer},
		{"partition partition-oneway delay", "U l? answers?", fewer + " " + slowLink},
		{"kill-connection", "U l", fewer},
		{"server-pause drop-reply", "U?", fewer + " What is not answered has mostly been executed, or is for nobody."},
	},
	"redlock-flawed-timeout": {
		{"server-pause partition partition-oneway", "Uf?", waitsLong},
		{"delay", "l Uf? L?", waitsLong + " What is slow from several nodes adds up, and outlasts what slowed it."},
		{"drop-reply", "L l", "It waits for an answer that is lost, for ever, and what it holds by then ends only with its lease."},
	},
})
