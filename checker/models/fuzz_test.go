package models

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/history"
)

// scribbled returns a history made from bytes, three for each entry: the process, the
// operation, and a number. Impossible entries are left out.
func scribbled(data []byte) []history.Entry {
	var entries []history.Entry
	words := []string{
		history.Acquire, history.Try, history.Release, history.Extend, history.Read, history.Write, history.CAS,
		history.Queued, history.Lost, history.Valid, "kill", "pause", "pause-end", history.Exit, history.Refuse,
	}
	open := map[int]string{}
	retired := map[int]bool{}
	grants := map[int]bool{}
	for ; len(data) >= 3 && len(entries) < 60; data = data[3:] {
		who, what, n := int(data[0]%8), words[int(data[1]>>2)%len(words)], int64(data[2]%16)
		e := history.Entry{
			Index: len(entries) + 1, Time: time.Duration(len(entries)/3) * time.Second, Client: string(rune('a' + who/2)), Process: history.Process{N: who},
			F: what, Lock: [2]string{"x", "y"}[data[0]>>7], Shared: data[0]&64 != 0, Value: history.Some(n), Was: history.Some(n / 2), Token: uint64(n / 3),
			Grant: int(data[2] >> 4), ValidUntil: time.Duration(data[2]>>4) * 2 * time.Second,
		}
		typ := []history.Type{history.OK, history.OK, history.Fail, history.Info}[data[1]%4]
		switch {
		case what == "kill" || what == "pause" || what == "pause-end" || what == history.Exit:
			e.Type, e.Process, e.Client, e.On = history.Info, history.Process{Name: history.Nemesis}, "", []string{string(rune('a' + who/2))}
		case what == history.Refuse || who == 7:
			e.Type, e.Process, e.Client = history.Event, history.Process{Name: history.Resource}, ""
		case !history.IsOperation(what):
			e.Type = history.Event
		case retired[who]:
			continue
		case open[who] == "":
			e.Type = history.Invoke
			open[who] = what
		default:
			e.Type, e.F = typ, open[who]
			if typ == history.OK && (e.F == history.Acquire || e.F == history.Try) && e.Grant != 0 {
				if grants[e.Grant] {
					e.Grant = 0
				}
				grants[e.Grant] = true
			}
			if typ == history.Fail {
				e.Error = []string{"", history.ErrHeld, history.ErrLost, history.ErrStaleToken, history.ErrCrashed, history.ErrNotHeld}[n%6]
			}
			delete(open, who)
			retired[who] = typ == history.Info
		}
		entries = append(entries, e)
	}
	return entries
}

// FuzzModels judges histories made from bytes by every model: there is no panic, a
// violation names lines, and the judges do not contradict each other.
func FuzzModels(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x00\x10\x02\x00\x00\x02\x00\x20\x00\x08\x10\x00\x08\x10"), uint8(0))
	f.Add([]byte("\x00\x00\x00\x00\x03\x10\x01\x08\x10\x01\x08\x10\x02\x04\x00\x02\x06\x10"), uint8(1))
	f.Add([]byte("\x00\x14\x01\x00\x14\x01\x02\x10\x00\x02\x10\x02\x03\x18\x02\x03\x18\x02"), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, options uint8) {
		entries := scribbled(data)
		if err := history.Check(&history.History{Entries: entries}); err != nil {
			return
		}
		o := Options{Released: options&1 != 0, StrictTry: options&2 != 0, Timeout: time.Second}
		for _, m := range someModels() {
			j, objects := gathered(m, o, entries)
			b := newBudget(context.Background(), o)
			for _, x := range objects {
				direct := x.direct()
				if direct.outcome == checker.Unknown {
					continue
				}
				if whole, _ := b.search(x, x.operations(0, never), x.start(), confirmSteps); whole != checker.Unknown && whole != direct.outcome {
					t.Fatalf("%s: the direct check says %s (%s), Porcupine says %s\n%s", m, direct.outcome, direct.sentence, whole, shown(entries))
				}
			}
			v := j.Verdict(context.Background())
			if v.Outcome == checker.Violated && (v.Witness == nil || len(v.Witness.Lines) == 0 || v.Witness.Sentence == "") {
				t.Fatalf("%s convicts without a witness: %+v\n%s", m, v, shown(entries))
			}
		}
	})
}
