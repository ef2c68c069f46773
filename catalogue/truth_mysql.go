package catalogue

import "maps"

// withMySQL adds what is known of the locks that live on MySQL.
func withMySQL(others map[string][]cell) map[string][]cell {
	maps.Copy(others, mysqlTruth)
	return others
}

// mysqlTruth is what was written down of them before anything was run: so what
// is not safe may be found, and nothing has to be.
var mysqlTruth = map[string][]cell{
	"mysql-optimistic": {
		{"none rate server-skew server-jump server-rate restart", "S", ""},
		{"pause hang", "Uf? R?", ""},
		{"kill poweroff", "l?", ""},
		{"skew jump restart-lost failover partition-servers", "U? R?", ""},
		{"partition partition-oneway delay kill-connection", "Uf? R? answers?", ""},
		{"server-pause drop-reply", "l? R? answers?", ""},
	},
	"mysql-fair": {
		{"none", "l? F?", ""},
		{"pause hang", "U? F?", ""},
		{"kill poweroff", "L? l? F?", ""},
		{"rate server-skew server-jump server-rate restart", "l? F?", ""},
		{"skew jump restart-lost failover partition-servers", "U? R? L? l? F? answers?", ""},
		{"partition partition-oneway delay kill-connection", "Uf? l? F? answers?", ""},
		{"server-pause drop-reply", "l? F? answers?", ""},
	},
	"mysql-fair-fixed": {
		{"none skew jump rate server-rate restart", "S", ""},
		{"pause hang partition partition-oneway delay kill-connection", "Uf?", ""},
		{"kill poweroff server-pause drop-reply", "l?", ""},
		{"server-skew server-jump", "U? l?", ""},
		{"restart-lost failover partition-servers", "U?", ""},
	},
	"mysql-get-lock": {
		{"none hang kill skew jump rate server-skew server-jump server-rate drop-reply server-pause", "S", ""},
		{"pause partition partition-oneway delay kill-connection", "Uf? L?", ""},
		{"poweroff", "L?", ""},
		{"restart restart-lost failover session-expiry", "Uf?", ""},
		{"partition-servers", "U?", ""},
	},
	"mysql-get-lock-pool": {
		{"none skew jump rate server-skew server-jump server-rate hang pause", "U? R? L?", ""},
		{"kill poweroff drop-reply server-pause", "U? R? L?", ""},
		{"restart restart-lost failover partition partition-oneway delay kill-connection partition-servers session-expiry", "U? R? L?", ""},
	},
	"mysql-for-update": {
		{"none hang kill skew jump rate server-skew server-jump server-rate drop-reply server-pause", "S", ""},
		{"pause partition partition-oneway delay kill-connection", "Uf? L?", ""},
		{"poweroff", "L?", ""},
		{"restart failover session-expiry", "Uf?", ""},
		{"restart-lost partition-servers", "U?", ""},
	},
}
