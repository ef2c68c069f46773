package suite

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/faults"
)

// whole has every key.
const whole = `# all there is
lockcheck: 1
seed: 7
for: 5m
runs: 20
regressions: kept
baseline: known.json
locks:
  - name: mine
    lock: redis-set-lua
    on: sim
    faults: [pause, kill]
    faults-per-run: 3
    mix: true
    workloads: usual
    promises: [lease-exclusion, liveness]
    options: [token, spin]
    fencing: writes
    strategy: pct
    depth: 2
    lease: 2s
    clients: 3
    acquires: 4
    runs: 5
  - worker: python3 worker.py
    store: zookeeper
    faults: -pause
    promises: exclusion
`

func TestAWholeSuite(t *testing.T) {
	got, err := Parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	want := &Suite{
		Format: 1, Seed: 7, For: Duration(5 * time.Minute), Runs: 20, Regressions: "kept", Baseline: "known.json",
		Locks: []Entry{{
			Name: "mine", Lock: "redis-set-lua", On: "sim", Faults: []string{"pause", "kill"}, FaultsPerRun: 3, Mix: true,
			Workloads: []string{"usual"}, Promises: checker.Promise{"lease-exclusion", "liveness"}, Options: []string{"token", "spin"},
			Fencing: "writes", Strategy: "pct", Depth: 2, Lease: Duration(2 * time.Second), Clients: 3, Acquires: 4, Runs: 5, Line: 9, Column: 5,
		}, {
			Worker: "python3 worker.py", Store: "zookeeper", Faults: []string{"-pause"}, Promises: checker.Promise{"exclusion"}, Line: 25, Column: 5,
		}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if e := &got.Locks[1]; e.Called() != "worker" || e.Place() != "docker" {
		t.Errorf("%s on %s", e.Called(), e.Place())
	}
}

func TestWhatIsWrongInAFile(t *testing.T) {
	entry := func(lines ...string) string {
		return "lockcheck: 1\nlocks:\n  - lock: redis-set-lua\n    " + strings.Join(lines, "\n    ")
	}
	worker := func(lines ...string) string {
		return "lockcheck: 1\nlocks:\n  - worker: python3 worker.py\n    " + strings.Join(lines, "\n    ")
	}
	var onlyTheSession []string // left as the only property
	for _, f := range faults.Usual() {
		if f.Name != "session-expiry" {
			onlyTheSession = append(onlyTheSession, "-"+f.Name)
		}
	}
	for _, c := range []struct {
		text string
		want []string // beginnings of the printed lines
	}{
		// Files that are not suites.
		{"", []string{"1:1: nothing is written here: lockcheck init"}},
		{"# locks:\n", []string{"1:1: nothing is written here"}},
		{"---\n", []string{"1:1: nothing is written here"}},
		{"- lock: redis-set-lua\n", []string{"1:1: a suite is keys and values, as runs: 20, and this is a list"}},
		{"hello", []string{`1:1: a suite is keys and values, as runs: 20, and this is "hello"`}},
		{"lockcheck: 1\n---\nlockcheck: 1\n", []string{"2:1: a second document begins here"}},
		{"lockcheck: 1\nlocks:\n\t- lock: redis-setnx\n", []string{"3:1: a tab is no indentation in YAML: write spaces"}},
		{"lockcheck: 1\nlocks: [\n", []string{"3:1: this is no YAML: "}},
		{"lockcheck: 1\nfor: *soon\n", []string{"2:6: this is no YAML: unknown anchor 'soon'"}},
		{"lockcheck: \xff\n", []string{"1:12: the byte 0xFF is no UTF-8: save the file as UTF-8"}},
		{"lockcheck: 1\n# é\xe9\n", []string{"2:4: the byte 0xE9 is no UTF-8"}},
		{"lockcheck: 1\r\nlocks:\n  - lock: a\x07b\n", []string{"3:12: U+0007 is a control character: take it out"}},
		{"lockcheck: 1\x00", []string{"1:13: U+0000 is a control character"}},

		// Keys.
		{"lockcheck: 1\nlocs: []\n", []string{`1:1: a suite needs the key locks`, `2:1: no key "locs"; did you mean locks?`}},
		{"locks:\n  - lock: redis-setnx\n", []string{"1:1: a suite needs the key lockcheck, the version of the format: lockcheck: 1"}},
		{entry("fault: pause"), []string{`4:5: no key "fault"; did you mean faults or faults-per-run?`}},
		{entry("for: 5m"), []string{"4:5: for is no key of an entry: write it without indentation, beside locks"}},
		{"lockcheck: 1\nfaults: pause\nlocks: [{lock: redlock}]\n", []string{"2:1: faults is no key of a suite: write it in an entry of locks"}},
		{entry("runs: 5", "runs: 6"), []string{"5:5: runs is a duplicate: line 4 has it"}},
		{entry("<<: {runs: 5}"), []string{"4:5: << merges nothing here: write the keys out"}},
		{entry("? [runs]", ": 5"), []string{"4:7: a list is no key"}},
		{entry("5: runs"), []string{`4:5: no key "5"`}},

		// Values.
		{"lockcheck: 2\nlocks:\n  - lock: redis-setnx", []string{"1:12: lockcheck 2: this lockcheck knows format 1 only"}},
		{"lockcheck: 1\nlocks: redis-setnx", []string{"2:8: locks has to be a list of entries"}},
		{"lockcheck: 1\nlocks:\n  - redis-setnx", []string{`3:5: an entry is keys and values, as runs: 20, and this is "redis-setnx"`}},
		{"lockcheck: 1\nlocks:", []string{"2:7: locks says nothing: write a value, as - lock: redis-set-lua"}},
		{"lockcheck:\nlocks:\n  - lock:", []string{"1:11: lockcheck says nothing: write a value, as lockcheck: 1", "3:10: lock says nothing: write a value, as lock: redis-set-lua"}},
		{"lockcheck: 1\nlocks:\n  - worker:", []string{"3:12: worker says nothing: write a value, as worker: python3 worker.py"}},
		{entry("runs:"), []string{"4:10: runs says nothing: leave it out, or write a value"}},
		{entry("runs: many"), []string{`4:11: runs "many": it has to be a whole number from 1 to 1000000000, in plain digits`}},
		{entry("runs: -3"), []string{"4:11: runs -3: it has to be a whole number from 1 to 1000000000, in plain digits"}},
		{entry("runs: 1.5"), []string{"4:11: runs 1.5: it has to be a whole number from 1 to 1000000000, in plain digits"}},
		{entry("strategy: pct", "depth: 17"), []string{"5:12: depth 17: it has to be a whole number from 1 to 16"}},
		{entry("runs: 010"), []string{"4:11: runs 010: it has to be a whole number from 1 to 1000000000, in plain digits"}},
		{entry("runs: 1_0"), []string{"4:11: runs 1_0: it has to be a whole number"}},
		{entry("runs: 0x10"), []string{"4:11: runs 0x10: it has to be a whole number"}},
		{entry("runs: +5"), []string{"4:11: runs +5: it has to be a whole number"}},
		{entry("clients: 201"), []string{"4:14: clients 201: it has to be a whole number from 1 to 200, in plain digits"}},
		{entry("acquires: 1001"), []string{"4:15: acquires 1001: it has to be a whole number from 1 to 1000"}},
		{entry("faults-per-run: 1001"), []string{"4:21: faults-per-run 1001: it has to be a whole number from 1 to 1000"}},
		{"lockcheck: 0x1\nlocks:\n  - lock: redis-setnx", []string{"1:12: lockcheck 0x1: this lockcheck knows format 1 only"}},
		{entry("runs: !foo 5"), []string{"4:11: the tag !foo means nothing here: leave it out"}},
		{entry("name: !foo mine", "faults: !!seq [!bar pause]"), []string{"4:11: the tag !foo", "5:13: the tag !!seq", "5:20: the tag !bar"}},
		{entry("!foo runs: 5"), []string{"4:5: the tag !foo means nothing"}},
		{entry("name: !!str 5"), []string{"4:11: the tag !!str means nothing here"}},
		{"!suite\nlockcheck: 1\nlocks: ! [{lock: redis-setnx}]", []string{"1:1: the tag !suite means nothing here", "3:8: the tag ! means nothing here"}},
		{entry("mix: yes"), []string{`4:10: mix "yes": it has to be true or false`}},
		{entry("lease: 5"), []string{"4:12: lease 5: it has to be a length of time, as 90s or 5m"}},
		{entry("lease: 5 s"), []string{`4:12: lease "5 s": it has to be a length of time`}},
		{entry("lease: -5s"), []string{`4:12: lease "-5s": it has to be a length of time`}},
		{entry("lease: 100ms"), []string{"4:12: lease 100ms: it has to be 200ms or more"}},
		{entry("lease: 11m"), []string{"4:12: lease 11m: it can be 10m at most"}},
		{entry("lease: 9999999999h"), []string{"4:12: lease 9999999999h: it can be 10m at most"}},
		{entry("lease: 0.0000000001s"), []string{"4:12: lease 0.0000000001s: it has to be 200ms or more"}},
		{"lockcheck: 1\nseed: 0\nlocks: [{lock: redlock}]", nil},
		{"lockcheck: 1\nseed: 00\nlocks: [{lock: redlock}]", []string{"2:7: seed 00: it has to be a whole number from 0 to 18446744073709551615, in plain digits"}},
		{"lockcheck: 1\nseed: 18446744073709551616\nlocks: [{lock: redlock}]", []string{"2:7: seed 18446744073709551616: it has to be a whole number from 0 to"}},
		{"lockcheck: 1\nfor: 9999999999h\nlocks: [{lock: redlock}]", []string{"2:6: for 9999999999h: it can be 2562047h at most"}},
		{"lockcheck: 1\nfor: 2562047h1m\nlocks: [{lock: redlock}]", []string{"2:6: for 2562047h1m: it can be 2562047h at most"}},
		{"lockcheck: 1\nfor: 0.0000000001s\nlocks: [{lock: redlock}]", []string{"2:6: for 0.0000000001s: it has to be 1ns or more"}},
		{entry("name: 5"), []string{`4:11: name 5: it has to be text, and in quotes it is: "5"`}},
		{entry("name: " + strings.Repeat("long", 26)), []string{`4:11: name "longlonglong`}},
		{entry("name: my lock"), []string{`4:11: name "my lock": it has to be letters, digits and . _ -`}},
		{entry("on: dokcer"), []string{`4:9: no environment "dokcer"; did you mean docker?`}},
		{entry("fencing: true"), []string{"4:14: fencing true: it has to be the name of a way of fencing, as all"}},
		{entry("strategy: luck"), []string{`4:15: no strategy "luck"; there are random, pct`}},
		{entry("strategy: exhaustive"), []string{"4:15: exhaustive draws no runs, and a suite is made of runs: lockcheck run"}},
		{"lockcheck: 1\nlocks:\n  - lock: redis-setlua", []string{`3:11: no lock "redis-setlua"; did you mean redis-set-lua`}},

		// Lists.
		{entry("faults: puase"), []string{`4:13: no fault "puase"; did you mean pause?`}},
		{entry("faults: pause, kill"), []string{`4:13: no fault "pause, kill"; a list is written [pause, kill]`}},
		{entry("faults: [puase, kill, -klil]"), []string{`4:14: no fault "puase"; did you mean pause?`, `4:27: no fault "-klil"; did you mean -kill?`}},
		{entry("faults: []"), []string{"4:13: faults is a list of nothing: leave it out, or name a fault"}},
		{entry("faults: [pause, -none]"), []string{`4:21: no fault "-none"`}},
		{entry("faults: [pause, -kill]"), []string{"4:21: -kill takes out what is not in the list"}},
		{entry("faults: [pause, -pause]"), []string{`4:13: "pause,-pause" leaves no kind of fault`}},
		{entry("faults: {pause: 1}"), []string{"4:13: faults is keys and values: it has to be one fault, or a list of such: ["}},
		{entry("promises: exclusio"), []string{`4:15: no property "exclusio"; did you mean exclusion`}},
		{entry("promises:", "- exclusion", "- exclusion"), []string{"6:7: exclusion is in the list twice"}},
		{entry("promises: [1]"), []string{"4:16: 1 in promises: it has to be the name of a property"}},
		{entry("workloads: nest"), []string{`4:16: no workload "nest"; did you mean nested?`}},
		{entry("options: tokens"), []string{`4:14: no option "tokens"; did you mean token`}},

		// Values that must fit together.
		{entry("worker: a"), []string{"4:13: an entry has lock or worker, not both"}},
		{"lockcheck: 1\nlocks:\n  - runs: 5", []string{"3:5: the entry has no lock"}},
		{worker("on: sim"), []string{"4:9: a worker runs on docker or external"}},
		{worker("options: token"), []string{"4:14: options are for locks that are built in"}},
		{worker("name: redlock"), []string{"4:11: redlock is a lock that is built in: call the worker something else"}},
		{entry("name: redlock"), []string{"4:11: redlock is another lock that is built in, and this is redis-set-lua: call the entry something else"}},
		{entry("clients: 1", "promises: [liveness, exclusion]"), []string{"5:26: with clients: 1 no lock can break exclusion: give it more clients, or leave it out"}},
		{entry("clients: 1", "promises: lease-exclusion"), []string{"5:15: with clients: 1 no lock can break lease-exclusion"}},
		{"lockcheck: 1\nlocks:\n  - worker: sh -c \"exec", []string{`3:13: "sh -c \"exec" cannot be split into words: a quote or a backslash has no end`}},
		{worker("strategy: pct"), []string{"4:15: pct decides how long each message takes, which is not possible on docker"}},
		{worker("store: zookeper"), []string{`4:12: no store "zookeper"; did you mean zookeeper?`}},
		{worker("store: zookeper", "faults: session-expiry"), []string{`4:12: no store "zookeper"`}},
		{worker("store:"), []string{"4:11: store says nothing: leave it out, or write a value"}},
		{worker("store: [redis]"), []string{"4:12: store is a list: it has to be the name of a store, as redis"}},
		{entry("store: redis"), []string{"4:12: store is of a worker: a lock that is built in has its own servers"}},
		{worker("faults: session-expiry"), []string{"4:13: session-expiry needs a server that keeps sessions, and that of worker keeps none"}},
		{worker("store: zookeeper", "faults: [session-expiry, failover]"), nil},
		{worker("store: mysql", "faults: [session-expiry, failover]"), nil},
		{worker("store: redlock", "faults: failover"), []string{"5:13: failover needs servers with replicas, and the nodes of worker have none"}},
		{worker("store: zookeeper", "faults: evict"), []string{"5:13: evict needs a server that evicts what it has no room for, and the ensemble of worker keeps all"}},
		{worker("store: zookeeper", "faults: server-skew"), []string{"5:13: server-skew needs a server whose clock can be set: under libfaketime"}},
		{worker("faults: [pause, skew]"), []string{"4:21: skew needs lockcheck's own workers, whose clocks can be set"}},
		{entry("depth: 2"), []string{"4:12: depth is of strategy: pct only"}},
		{entry("strategy: random", "depth: 2"), []string{"5:12: depth is of strategy: pct only"}},
		{entry("faults: session-expiry"), []string{"4:13: session-expiry needs a server that keeps sessions, and that of redis-set-lua keeps none"}},
		{entry("on: docker", "faults: [all, server-rate]"), []string{"5:19: server-rate needs a server whose clock can be made fast or slow"}},
		{entry("faults: [" + strings.Join(onlyTheSession, ", ") + "]"), []string{"4:13: none of these faults applies to redis-set-lua on sim: session-expiry needs a server that keeps sessions"}},
		{entry("faults: ["+strings.Join(onlyTheSession, ", ")+"]", "mix: true"), []string{"4:13: none of these faults applies", "5:10: mix needs faults of several kinds"}},
		{entry("faults: [none, " + strings.Join(onlyTheSession, ", ") + "]"), nil},
		{worker("faults: [-pause, -kill, -hang]", "workloads: all"), nil},
		{entry("workloads: [-usual, -nested, -give-up]"), []string{"4:16: none of these workloads applies to redis-set-lua on sim: "}},
		{entry("workloads: finally"), []string{"4:16: finally needs a lock that releases by name, and redis-set-lua is none"}},
		{entry("options: cap"), []string{"4:14: redis-set-lua has no option cap; it has token, "}},
		{entry("promises: [liveness, fencing]"), []string{"4:26: fencing is judged by tokens, and none are drawn: turn fencing on"}},
		{entry("promises: [liveness, fairness]"), []string{"4:26: fairness is of locks that promise order, and redis-set-lua promises none: leave it out, or promise liveness"}},
		{entry("promises: fairness"), []string{"4:15: fairness is of locks that promise order"}},
		{"lockcheck: 1\nlocks: [{lock: zk-recipe, promises: lease-exclusion}]", []string{"2:37: lease-exclusion is of grants that say how long they last, and those of zk-recipe do not: promise exclusion instead"}},
		{"lockcheck: 1\nlocks: [{lock: mysql-for-update, on: docker, promises: [ownership]}]", []string{"2:57: ownership is judged by what becomes of entries, and on docker"}},
		{"lockcheck: 1\nlocks: [{lock: mysql-get-lock, on: docker, promises: [ownership]}]", nil},
		{worker("promises: [exclusion, answers]"), nil}, // it may declare its entries
		{entry("faults: none", "faults-per-run: 2"), []string{"5:21: faults-per-run needs a fault, but faults is none"}},
		{entry("faults: [none]", "mix: false"), []string{"5:10: mix needs a fault"}},
		{entry("faults: [none, pause]", "mix: true"), []string{"5:10: mix needs faults of several kinds, and pause is one"}},
		{entry("faults: pause", "mix: true"), []string{"5:10: mix needs faults of several kinds, and pause is one"}},
		{entry("") + "\n  - lock: redis-set-lua\n    name: redis-set-lua", []string{"6:11: the entry in line 3 is called redis-set-lua on sim, too"}},

		{"lockcheck: 1\nlocks:\n  - {lock: redis-setnx, name: Mine}\n  - {lock: redlock, name: mine}\n", []string{"4:27: mine on sim and Mine on sim, in line 3, have one directory where the case of letters does not count: give one of them another name"}},
		{"lockcheck: 1\nlocks:\n  - lock: redis-setnx\n  - {lock: redlock, name: Redis-SETNX}\n", []string{"4:27: Redis-SETNX on sim and redis-setnx on sim, in line 3, have one directory"}},
		{"lockcheck: 1\nlocks:\n  - lock: redis-set-lua\n  - {lock: redis-set-lua, name: 1}\n", []string{"4:33: name "}},

		// Anchors: a mistake in the value itself is reported once, where the value is
		// written. A mistake with other values, or for another key, is reported where
		// the alias is used.
		{"lockcheck: 1\nlocks:\n  - lock: zk-recipe\n    faults: &f [session-expiry]\n  - lock: redis-set-lua\n    faults: *f", []string{"6:13: session-expiry needs a server that keeps sessions"}},
		{"lockcheck: 1\nlocks:\n  - lock: zk-recipe\n    faults: [&f session-expiry]\n  - lock: redis-set-lua\n    faults: [pause, *f]", []string{"6:21: session-expiry needs"}},
		{"lockcheck: 1\nlocks:\n  - {lock: redis-setnx, faults: &f [puase, pause, -kill]}\n  - {lock: redlock, faults: *f}", []string{`3:37: no fault "puase"`, "3:51: -kill takes out what is not in the list"}},
		{"lockcheck: 1\nlocks:\n  - {lock: redis-setnx, lease: &t 100ms}\n  - {lock: redlock, lease: *t}", []string{"3:32: lease 100ms: it has to be 200ms or more"}},
		{"lockcheck: 1\nlocks:\n  - {name: a, worker: &w 'sh \"'}\n  - {name: b, worker: *w}", []string{"3:23: \"sh \\\"\" cannot be split into words"}},
		{"lockcheck: 1\nruns: &n 500\nlocks:\n  - {lock: redis-setnx, clients: *n}", []string{"4:34: clients 500: it has to be a whole number from 1 to 200"}},
		{"lockcheck: 1\nruns: &n 0\nlocks:\n  - {lock: redis-setnx, clients: *n}", []string{"2:7: runs 0", "4:34: clients 0"}},
		{"lockcheck: 1\nfor: &t 100ms\nlocks:\n  - {lock: redis-setnx, lease: *t}", []string{"4:32: lease 100ms: it has to be 200ms or more"}},
		{entry("faults: [&f pause, *f]"), []string{"4:24: pause is in the list twice"}},
		{"lockcheck: 1\nlocks:\n  - &e {lock: redis-setnx, faults: puase}\n  - *e", []string{`3:36: no fault "puase"`, "4:5: the entry in line 3 is called redis-setnx on sim, too"}},
		{"lockcheck: 1\nruns: &n 5\nlocks: *n", []string{"3:8: locks has to be a list of entries"}},

		// All mistakes, in the order of the file.
		{
			"lockcheck: 1\nfor: long\nlocks:\n  - lock: redlok\n    faults: [puase]\n    runs: 0\n  - on: sim\n",
			[]string{`2:6: for "long"`, `4:11: no lock "redlok"; did you mean redlock`, `5:14: no fault "puase"`, "6:11: runs 0", "7:5: the entry has no lock"},
		},
	} {
		_, err := Parse([]byte(c.text))
		var got []string
		if err != nil {
			got = strings.Split(err.Error(), "\n")
		}
		if len(got) != len(c.want) || slices.ContainsFunc(got, func(l string) bool { return !strings.HasPrefix(l, c.want[slices.Index(got, l)]) }) {
			t.Errorf("%s\ngives\t%s\nwant\t%s\n", c.text, strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
		}
	}
}

// A single word means a list of one item, and an alias means the value that it refers
// to.
func TestTheSameSaidOtherwise(t *testing.T) {
	long := "lockcheck: 1\nlocks:\n  - lock: redis-setnx\n    faults: [pause]\n  - lock: redlock\n    faults: [pause]\n"
	short := "lockcheck: 1\n\nlocks: [{lock: redis-setnx, faults: &one pause}, {lock: redlock, faults: *one}]\n"
	a, err := Parse([]byte(long))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse([]byte(short))
	if err != nil {
		t.Fatal(err)
	}
	for i := range b.Locks {
		b.Locks[i].Line, b.Locks[i].Column = a.Locks[i].Line, a.Locks[i].Column
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

// A mistake that exists only on this machine is reported like any other.
func TestWhatIsWrongHere(t *testing.T) {
	text := "lockcheck: 1\nregressions: &b gone\nbaseline: *b\nlocks:\n  - worker: &w gone -v\n  - {name: b, worker: *w}\n  - {lock: redlok}\n  - {name: gone, worker: there}\n"
	said := func(key string) func(string) error {
		return func(value string) error {
			if strings.HasPrefix(value, "gone") {
				return errors.New("no " + key + " " + value)
			}
			return nil
		}
	}
	_, err := Here{"baseline": said("baseline"), "worker": said("worker")}.Parse([]byte(text))
	want := "3:11: no baseline gone\n5:13: no worker gone -v\n7:12: no lock \"redlok\"; did you mean redlock?"
	if err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// Problems are printed in the format that editors read.
func TestProblemsOfAFile(t *testing.T) {
	_, err := Parse([]byte("lockcheck: 2\nruns: 0\nlocks: [{lock: redlock}]\n"))
	var ps Problems
	if !errors.As(err, &ps) {
		t.Fatal(err)
	}
	want := "a.yaml:1:12: lockcheck 2: this lockcheck knows format 1 only\na.yaml:2:7: runs 0: it has to be a whole number from 1 to 1000000000, in plain digits"
	if got := ps.In("a.yaml").Error(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(whole))
	f.Add([]byte("lockcheck: 1\nlocks: &a [*a]\n"))
	f.Add([]byte("lockcheck: 1\nlocks: [{faults: &a [*a]}]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		var ps Problems
		if err != nil && (!errors.As(err, &ps) || len(ps) == 0 || ps[0].Line < 1 || ps[0].Column < 1) || err == nil && len(s.Locks) == 0 {
			t.Errorf("%v, %v", s, err)
		}
	})
}
