package catalogue_test

import (
	"math"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
)

// Each store has its own settings, and each setting has sensible values.
func TestServersFitTheirLocks(t *testing.T) {
	for _, tt := range []struct {
		lock   string
		server catalogue.Server
		wrong  string // part of the error; "": no error
	}{
		{"redis-set-lua", catalogue.Server{}, ""},
		{"redis-set-lua", catalogue.Server{Replicas: 2, Fsync: catalogue.FsyncAlways}, ""},
		{"redis-set-lua", catalogue.Server{Sequence: 1}, "sequence is a setting of a ZooKeeper ensemble"},
		{"redis-set-lua", catalogue.Server{Replicas: -1}, "replicas"},
		{"zk-recipe", catalogue.Server{}, ""},
		{"zk-recipe", catalogue.Server{Sequence: math.MaxInt32}, ""},
		{"zk-recipe", catalogue.Server{Sequence: -1}, "sequence: numbers begin with 0 or more"},
		{"zk-recipe", catalogue.Server{Sequence: 1, Replicas: 1}, "settings of Redis servers"},
	} {
		lock, _ := catalogue.FindLock(tt.lock)
		err := tt.server.Fits(&lock)
		if err == nil {
			err = tt.server.Validate()
		}
		if (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) {
			t.Errorf("%s on %+v: %v, want %q", tt.lock, tt.server, err, tt.wrong)
		}
	}
}

// The words show each setting.
func TestServersInWords(t *testing.T) {
	for words, server := range map[string]catalogue.Server{
		"":                               {},
		"3 servers":                      {Nodes: 3},
		"3 servers of one Redis Cluster": {Nodes: 3, Cluster: true},
		"servers with 1 replica each":    {Replicas: 1},
		"5 servers with 2 replicas each": {Nodes: 5, Replicas: 2},
		"servers that save their data once a second (fsync everysec)":    {Fsync: catalogue.FsyncEverysec},
		"servers that save each write before they answer (fsync always)": {Fsync: catalogue.FsyncAlways},
		"servers that refuse to write when memory is full (noeviction)":  {Eviction: catalogue.EvictNothing},
		"an ensemble whose next sequence number is 2147483647":           {Sequence: math.MaxInt32},
		"servers with 2 replicas each that save each write before they answer (fsync always) and refuse to write when memory is full (noeviction)": {
			Replicas: 2, Fsync: catalogue.FsyncAlways, Eviction: catalogue.EvictNothing,
		},
	} {
		if got := server.Words(); got != words {
			t.Errorf("%+v: %q, want %q", server, got, words)
		}
	}
}

// Where the power may go the words say that a Redis server saves nothing, if it does not.
func TestServersThatLosePowerInWords(t *testing.T) {
	power := []faults.Injection{{Fault: "pause"}, {Fault: "restart-lost"}}
	for _, tt := range []struct {
		lock   string
		server catalogue.Server
		faults []faults.Injection
		words  string
	}{
		{"redis-set-lua", catalogue.Server{}, power, "servers that save nothing"},
		{"redis-set-lua", catalogue.Server{Replicas: 2}, power, "servers with 2 replicas each that save nothing"},
		{"redis-set-lua", catalogue.Server{}, power[:1], ""},
		{"redis-set-lua", catalogue.Server{Fsync: catalogue.FsyncAlways}, power, "servers that save each write before they answer (fsync always)"},
		{"mysql-optimistic", catalogue.Server{}, power, ""}, // its tables survive
	} {
		lock, _ := catalogue.FindLock(tt.lock)
		if got := tt.server.Under(&lock, tt.faults); got != tt.words {
			t.Errorf("%s on %+v: %q, want %q", tt.lock, tt.server, got, tt.words)
		}
	}
}
