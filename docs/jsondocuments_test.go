package docs

import "github.com/lockcheck/lockcheck/internal/results"

const schemaVersion = results.Schema

const command = "cmd/lockcheck"

// documents are the sections of json.md. A test in cmd/lockcheck runs the commands, and
// checks their output against the page.
var documents = []document{
	{
		title: "Cases", root: goType{"internal/cases", "Document"},
		about: "`lockcheck case`: the result of each documented failure. With `--lock`, `--pause` or `--lease` it prints [verdicts](#verdicts) instead.",
		shows: []example{{"lockcheck case redis-get-del-race --json", `
{
 "schema": 1,
 "cases": [
  {"id": "redis-get-del-race", "kind": "violation", "lock": "redis-set-get-del", "on": "sim", "reproduced": true,
   "violated": ["exclusion", "lease-exclusion", "ownership", "resource"], "remedy": "valid", "remedy_lock": "redis-set-lua",
   "reason": "", "lease_ms": 10000, "tries": 1, "seconds": 0.01}
 ]
}`}},
	},
	{
		title: "Results", root: goType{"internal/results", "Document"},
		about: "`lockcheck run`, `lockcheck suite` and `lockcheck merge`: the result of an exploration. A `result.json` holds the same.",
		shows: []example{{"lockcheck run redis-set-lua --fault pause --promise all --seed 1 --runs 20 --json", `
{
 "schema": 1, "command": "run", "version": "0.1.0",
 "settings": {"arguments": "redis-set-lua", "fault": "[pause]", "promise": "[all]", "runs": "20", "seed": "1"},
 "verdict": "violated", "exit_code": 1, "seconds": 0.05, "runs": 20, "seed": 1,
 "violations": [
  {"property": "exclusion", "cell": "redis-set-lua", "lock": "redis-set-lua", "runs": 3, "promised": true, "seed": 4,
   "file": "lockcheck-out/redis-set-lua-pause-4/history.jsonl",
   "shrunk": "lockcheck-out/redis-set-lua-pause-4/shrunk-exclusion/history.jsonl",
   "sentence": "c1 was granted \"a\" at 0.2 ms and held it until 17.001 s, and c2 was granted it at 10.018 s."}
 ],
 "properties": {"exclusion": "violated", "lease-exclusion": "valid", "fencing": "n/a"},
 "reached": {"grants": 738, "pause_hit_holder": 9},
 "cells": [
  {"name": "redis-set-lua", "lock": "redis-set-lua", "on": "sim", "faults": ["pause"], "workload": "usual",
   "verdict": "violated", "seed": 1, "runs": 20, "asked": 738, "seconds": 0.05,
   "properties": [
    {"property": "exclusion", "outcome": "violated", "promised": true,
     "runs": {"valid": {"count": 17, "seed": 1}, "violated": {"count": 3, "seed": 4}},
     "seed": 4, "file": "lockcheck-out/redis-set-lua-pause-4/history.jsonl"},
    {"property": "fencing", "outcome": "n/a", "reason": "no grant has a token", "promised": true,
     "runs": {"n/a": {"count": 20, "seed": 1, "reason": "no grant has a token"}}}
   ],
   "reached": {"grants": 738}}
 ]
}`}},
	},
	{
		title: "Verdicts", root: goType{"internal/rundir", "Verdict"},
		about: "`lockcheck check`, `lockcheck replay` and `lockcheck shrink`, of one file: its verdicts. A `verdict.json` holds the same.",
		shows: []example{{"lockcheck check lockcheck-out/redis-set-lua-pause-4/history.jsonl --json", `
{
 "schema": 1, "file": "lockcheck-out/redis-set-lua-pause-4/history.jsonl",
 "properties": [
  {"property": "exclusion", "outcome": "violated",
   "sentence": "c1 was granted \"a\" at 0.021 s and held it until 23.801 s, and c2 was granted it at 10.247 s.",
   "entries": [3, 14, 27], "lines": [4, 15, 28]},
  {"property": "ownership", "outcome": "valid"},
  {"property": "fencing", "outcome": "n/a", "reason": "no grant has a token"}
 ],
 "reached": {"fault_injected": 1, "grants": 2, "lease_expired_while_held": 1, "pause_hit_holder": 1}
}`}, {"lockcheck replay lockcheck-out/redis-set-lua-pause-4/shrunk-exclusion/schedule.json --json", `
{
 "schema": 1, "file": "lockcheck-out/redis-set-lua-pause-4-shrunk-exclusion-replay/history.jsonl",
 "properties": [{"property": "exclusion", "outcome": "violated"}],
 "was": ["exclusion"], "unused": 0, "defaulted": 0
}`}},
	},
	{
		title: "Several verdicts", root: goType{"internal/judging", "Documents"},
		about: "The same commands, of several files or of none: a list of [verdicts](#verdicts).",
		shows: []example{{"lockcheck check --model mutex lockcheck-out --json", `
{
 "schema": 1,
 "files": [
  {"schema": 1, "file": "lockcheck-out/redis-set-lua-pause-4/history.jsonl", "model": "mutex", "operations": 3, "entries": 29,
   "properties": [
    {"property": "mutex", "outcome": "violated",
     "sentence": "from line 2 to line 15 \"a\" was granted 2 times, and no release can have come between", "lines": [2, 4, 13, 15]}
   ]}
 ]
}`}},
	},
	{
		title: "Matrix", root: goType{"internal/results", "MatrixDocument"},
		about: "`lockcheck matrix`: every lock under every fault, the expected violations and those that were found.",
		shows: []example{{"lockcheck matrix redis-set-lua --fault kill --json", `
{
 "schema": 1, "on": "sim", "lease_ms": 10000, "seed": 1, "runs": 1000, "seconds": 0.1,
 "cells": [
  {"lock": "redis-set-lua", "fault": "kill", "expected": "l", "must": ["l"], "may": ["handover"],
   "outcome": "as-expected", "codes": ["l"],
   "found": [{"property": "handover", "seed": 4, "first": 4, "runs": 445, "expected": true}],
   "runs": 1000, "grants": 30248, "hits": 777,
   "porcupine": {"agreed": 24, "undecided": 0, "disagreed": 0}}
 ]
}`}},
	},
	{
		title: "Lists", root: goType{command, "listDocument"},
		about: "`lockcheck list`: the names of a kind. The list has the name of the argument.",
		shows: []example{{"lockcheck list workloads --json", `
{
 "schema": 1,
 "workloads": [{"name": "usual", "does": "asks until it is granted, works, releases what it was granted"}]
}`}},
	},
	{
		title: "Contests", root: goType{"internal/bench", "Document"},
		about: "`lockcheck bench contention` and `lockcheck bench fairness`: the cost of a lock, and the overtaken clients.",
		shows: []example{{"lockcheck bench contention --clients 3 --for 20s --json", `
{
 "schema": 1, "bench": "contention", "on": "sim", "lock": "redis-set-lua", "lease_ms": 10000, "seconds": 20, "seed": 1,
 "cells": [
  {"waiting": "spin", "hold_seconds": 0.05, "clients": 3, "acquisitions": 354, "commands": 8312, "again": 27,
   "grants": [120, 119, 115], "out_of_turn": 191, "overtaken": [69, 72, 77]}
 ]
}`}},
	},
	{
		title: "Herds", root: goType{"internal/bench", "HerdDocument"},
		about: "`lockcheck bench herd`: the cost of a hand-over while many clients wait in a queue.",
		shows: []example{{"lockcheck bench herd --clients 2,4 --for 1s --json", `
{
 "schema": 1, "bench": "herd", "on": "sim", "session_ms": 10000, "seconds": 1, "seed": 1,
 "cells": [
  {"lock": "zk-children", "waiters": 2, "hand_overs": 4, "figures": {"listed_by_hand_over": 4, "notified_by_hand_over": 2}},
  {"lock": "zk-children", "waiters": 4, "hand_overs": 4, "figures": {"listed_by_hand_over": 16, "notified_by_hand_over": 4}}
 ]
}`}},
	},
	{
		title: "Version", root: goType{command, "versionDocument"},
		about: "`lockcheck version`: the release, and the source of the build if it is known.",
		shows: []example{{"lockcheck version --json", `
{
 "schema": 1, "version": "0.1.0", "history": 1, "go": "go1.26.0", "os": "linux", "arch": "amd64"
}`}},
	},
	{
		title: "Init", root: goType{command, "initDocument"},
		about: "`lockcheck init`: the suite that was written, and the files beside it.",
		shows: []example{{"lockcheck init suites --json", `
{
 "schema": 1, "files": ["suites/lockcheck.yaml", "suites/worker.py"]
}`}},
	},
	{
		title: "Clean", root: goType{command, "cleanDocument"},
		about: "`lockcheck clean`: containers and processes that killed runs had left behind.",
	},
	{
		title: "Schedules", root: goType{"internal/harness", "Plan"},
		about: "A `schedule.json`, which `replay` and `shrink` read: every decision of a run. Its version is `lockcheck_schedule`.",
		shows: []example{{"cat lockcheck-out/redis-set-lua-pause-4/shrunk-exclusion/schedule.json", `
{
 "lockcheck_schedule": 1, "lock": "redis-set-lua", "on": "sim", "seed": 4, "lease_ns": 10000000000,
 "clients": ["c1", "c2"], "acquires": 1, "promises": ["exclusion"],
 "shrunk": {"for": "exclusion", "to": {"clients": 2, "faults": 1, "acquisitions": 2, "operations": 8}},
 "faults": [
  {"fault": "pause", "on": ["c1"], "point": {"client": "c1", "acquisition": 1, "op": "acquire", "ok": true},
   "for_ns": 15000000000}
 ],
 "choices": [["think c1 #1", 0], ["think c2 #1", 1000000]]
}`}},
	},
}
