package catalogue

import "maps"

// withMySQL adds the cells of the locks on MySQL.
func withMySQL(others map[string][]cell) map[string][]cell {
	maps.Copy(others, mysqlTruth)
	return others
}

// The mechanisms that several locks on MySQL share.
const (
	rowsClock  = "The clients' wall clocks say what is over, and the server's have no part in it."
	rowsTimes  = "The clients' wall clocks say what is over: one that is ahead takes over a lease that runs, and frees it as its own."
	rereads    = "A release deletes the row with the version that it has just read, which is the next holder's if it comes late: that one's lease runs, and a third gets in."
	againZero  = "Versions begin at 0 with each new row: a DELETE that comes late, from after its SELECT, meets another row of the same version."
	takenForNo = "An INSERT that was not answered is a no, so the row is nobody's: all wait until it is over."
	lostFree   = "A release that is lost with its connection is not sent again: the next one waits for the lease to end."
	rowBack    = "A new primary that never heard of a release has the row again, and nobody but the next holder removes a row."
	rowLost    = "A server that comes up with an empty table grants the lock again; the holder has to be at work still."
	rowGone    = "A new primary that never got the row grants the lock again; the holder has to be at work still. That is one run in 100 or fewer."

	oldPlace   = "A name stays in the queue when its caller is refused, or its release was lost; when the caller asks again, that old place is before those that have come since."
	deadPlaces = "Nobody takes out the place of one who is gone: it is the head in its turn, and costs a lease."
	byID       = "The head enters with an UPDATE by id that compares no version and raises none: who read before that the lease was over takes its place all the same, and a head that reads, and waits, enters what is another's by then."
	nameless   = "A holder that has not queued up is not in the queue, so whoever queues up first is the head and enters; and a release strips or deletes what it finds."
	twiceIn    = "The head of the queue enters as often as it likes, and the lock does not count: the inner release lets the next one in."

	rowsServer  = "The server's clock ends a lease early, and who takes it over writes into the holder's row."
	restOfLease = "What a write without an answer has got is known only when the row can be read again: too little of the lease may be left for a section."
	asksAgain   = "What was not answered is read again, so a row of the own is recognised, and a release is sent until it is answered."
	ownedBy     = "Each acquisition has an id of its own, and a release asks for it."
	takesOut    = "A waiter that gives up removes its place, and a place without renewals ends after T/3."

	untoldRow   = "An operator deletes the row of a holder, and nothing tells it: the next one is granted the lock."
	noLease     = "There is no lease that could end, and no clock that does: the session keeps the lock."
	halfOpen    = "A host without power says nothing, so the session of its client, and the lock with it, stays until the server's keepalive or wait_timeout end it, after hours."
	dropped     = "The server ends the session, and gives the lock to the next; the holder hears of it with its release."
	notCopied   = "Neither sessions nor what they have locked is copied to a replica."
	slowEnd     = "A release that is slow, or the end of a session that was given up, gets to the server late."
	sameSession = "Two callers of one process are lent the same session, which gets its own lock again; a release on another session frees nothing, nobody reads that it says so, and the lock stays with an idle connection."
)

// mysqlTruth is the results of random exploration for these locks. A violation found
// in at most one run in a hundred is optional.
var mysqlTruth = map[string][]cell{
	"mysql-optimistic": {
		{"finally", "U R", "A client that was refused deletes the row with the version that it has just read, which is the holder's."},
		{"nested give-up", "S", "An acquire that is refused has written nothing."},
		{"none", "S", ""},
		{"rate", "S", "In a third of a lease 1 % does not show."},
		{"server-skew server-jump server-rate", "S", rowsClock},
		{"pause hang", "U R", rereads},
		{"kill poweroff", "l", ""},
		{"skew jump", "U R", rowsTimes},
		{"server-pause drop-reply", "l answers?", takenForNo},
		{"restart", "l", lostFree},
		{"restart-lost", "U R", rowLost + " The one whose row was lost deletes that of the next."},
		{"failover", "U? R? answers? l?", rowGone + " " + rowBack},
		{"partition partition-oneway", "U? R? l answers?", againZero + " " + takenForNo},
		{"delay", "U? R? l answers?", againZero + " " + takenForNo},
		{"kill-connection", "l answers?", takenForNo + " " + lostFree},
		{"partition-servers", "U R l?", twoReigns + " " + rowBack},
		{"entry-lost", "U R", untoldRow + " The one whose row was deleted deletes that of the next."},
		{"entry-changed", "S", "An operator writes an owner into the row. This lock names none: only the version and the time count, and they stay."},
	},
	"mysql-fair": {
		{"finally", "F l?", deadPlaces + " " + oldPlace},
		{"mixed", "U R", nameless},
		{"nested", "U", twiceIn},
		{"give-up", "l F L? U? R?", deadPlaces + " " + oldPlace + " Several in a row make all wait for longer than 3 T. " + byID},
		{"none rate server-skew server-jump server-rate", "F?", "A client with many ahead of it is refused after T. If it asks again it finds its old place, before those that have come since: one run in 5,000."},
		{"pause hang", "Uf R? F? lease-exclusion?", byID + " " + againZero + " " + oldPlace},
		{"kill poweroff", "l F L?", deadPlaces + " " + oldPlace},
		{"skew jump", "U R L? l? F? answers?", rowsTimes + " " + byID},
		{"server-pause", "R? U? l? F?", deadPlaces + " " + oldPlace + " " + byID + " That is one run in 20,000."},
		{"restart", "l F", lostFree + " " + oldPlace},
		{"restart-lost", "U F?", rowLost + " " + oldPlace},
		{"failover", "U? R? L? l? F? answers?", rowGone + " " + rowBack + " " + oldPlace},
		{"partition partition-oneway", "U? R? l? F?", againZero + " " + deadPlaces + " " + oldPlace},
		{"delay", "U? R? l F", againZero + " " + deadPlaces + " " + oldPlace},
		{"drop-reply kill-connection", "l F?", lostFree + " " + oldPlace},
		{"partition-servers", "U R? L? l? F? answers?", twoReigns + " " + oldPlace},
		{"entry-lost", "U F?", untoldRow + " " + oldPlace},
		{"entry-changed", "l F?", "An operator writes another name at the head of the queue, which is the owner. The release of the holder takes the lock for another's and frees nothing: all wait for the lease to end. " + oldPlace},
	},
	"mysql-fair-fixed": {
		{"finally nested", "S", ownedBy},
		{"give-up", "S", takesOut},
		{"none", "S", ""},
		{"skew jump rate server-rate", "S", ownClock},
		{"pause hang", "Uf", ""},
		{"kill poweroff", "l", ""},
		{"server-pause drop-reply restart kill-connection", "S", asksAgain},
		{"server-skew server-jump", "U R", rowsServer},
		{"restart-lost", "U", rowLost},
		{"failover", "U? answers?", rowGone + " " + rowBack},
		{"partition partition-oneway delay", "Uf?", restOfLease},
		{"partition-servers", "U R? l? answers?", twoReigns + " " + rowBack},
		{"entry-lost", "U", untoldRow},
		{"entry-changed", "l", "An operator names another owner in the row of a holder. Its lease keeps others out as before, but the release frees only what is its own: all wait for the lease to end."},
	},
	"mysql-get-lock": {
		{"nested", "S", "A client asks on another session, which is refused."},
		{"give-up", "S", "A client that gives up leaves only an idle session."},
		{"none pause hang kill", "S", noLease},
		{"skew jump rate server-skew server-jump server-rate", "S", noClock},
		{"poweroff", "L", halfOpen},
		{"restart restart-lost session-expiry", "Uf", dropped},
		{"failover", "Uf", notCopied},
		{"partition-servers", "U", twoReigns + " " + notCopied},
		{"partition partition-oneway server-pause kill-connection", "S", "The session of a holder has nothing in flight, and lasts; a waiter without an answer closes its own."},
		{"drop-reply", "l?", "The session of a holder has nothing in flight, and lasts; a waiter without an answer closes its own, after T/4: two such in a row are a slow hand-over."},
		{"delay", "l L?", slowEnd + " Two that delay one link add up, and outlast 3 T."},
		{"entry-lost", "Uf", "An operator kills the connection of a holder. " + dropped},
	},
	"mysql-get-lock-pool": {
		{"none nested give-up skew jump rate server-skew server-jump server-rate hang pause kill poweroff", "U L R? answers?", sameSession},
		{"finally", "U L? l? R? answers?", sameSession},
		{"server-pause restart restart-lost failover partition partition-oneway partition-servers delay drop-reply kill-connection session-expiry", "U L R? answers?", sameSession},
		{"entry-lost", "U L R? answers?", sameSession},
	},
	"mysql-for-update": {
		{"nested", "S", "A client asks on another session, which waits for a while and is refused."},
		{"give-up", "S", "A client that gives up has its session killed."},
		{"none pause hang kill", "S", noLease},
		{"skew jump rate server-skew server-jump server-rate", "S", noClock},
		{"poweroff", "L", halfOpen},
		{"restart session-expiry", "Uf", dropped},
		{"restart-lost", "U", dropped},
		{"failover", "Uf", notCopied},
		{"partition-servers", "U", twoReigns + " " + notCopied},
		{"partition partition-oneway server-pause kill-connection", "S", "The session of a holder has nothing in flight, and lasts; the session of a waiter without an answer is killed."},
		{"drop-reply", "l?", "The session of a holder has nothing in flight, and lasts; the session of a waiter without an answer is killed, after T/4: two such in a row are a slow hand-over."},
		{"delay", "l L?", slowEnd + " Two that delay one link add up, and outlast 3 T."},
		{"entry-lost", "Uf", "An operator kills the connection of a holder. " + dropped},
	},
}
