package model_test

import (
	"bytes"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/lockcheck/lockcheck/internal/rapidtest"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
)

// drawnStatement is any statement on a few rows and names.
var drawnStatement = rapid.Custom(func(t *rapid.T) mysql.Command {
	return mysql.Command{
		Verb:      mysql.Verb(rapid.IntRange(int(mysql.Select), int(mysql.Ping)).Draw(t, "verb")),
		Row:       drawnRow.Draw(t, "row"),
		Set:       mysql.Version | mysql.Columns(rapid.IntRange(0, 3).Draw(t, "set"))*mysql.Queue,
		Where:     rapid.SampledFrom([]mysql.Columns{mysql.Resource, mysql.ID, mysql.Resource | mysql.Version}).Draw(t, "where"),
		Match:     drawnRow.Draw(t, "match"),
		Isolation: mysql.Isolation(rapid.IntRange(0, 1).Draw(t, "level")),
		Name:      rapid.SampledFrom([]string{"n", "o"}).Draw(t, "name"),
		Wait:      rapid.SampledFrom([]time.Duration{-1, 0, time.Second, time.Minute}).Draw(t, "wait"),
		Int:       rapid.Int64Range(1, 4).Draw(t, "session"),
	}
})

var drawnRow = rapid.Custom(func(t *rapid.T) mysql.Row {
	return mysql.Row{
		ID:       rapid.Int64Range(1, 5).Draw(t, "id"),
		Resource: rapid.SampledFrom([]string{"k", "l", "m"}).Draw(t, "resource"),
		Version:  rapid.Int64Range(0, 1).Draw(t, "version"),
	}
})

// Whatever clients ask, and whichever leave: each statement of a live session
// gets an answer in the end. Closed sessions leave nothing behind. A replica with
// the full log equals its primary, and so does the primary after a crash.
func TestNothingIsLeftBehind(t *testing.T) {
	rapidtest.Check(t, func(t *rapid.T) {
		server, replica := model.New(model.Options{}), model.New(model.Options{})
		replica.Follow()
		now := model.Clock{}
		asked := map[int64]int{} // the statement that a session waits for; 0: none
		for range 4 {
			asked[server.Connect(now)] = 0
		}
		hear := func() {
			for _, o := range server.Outputs() {
				switch {
				case o.Kind == model.Answer && asked[o.Session] != o.By:
					t.Fatalf("session %d, which waits for %d, is answered %d", o.Session, asked[o.Session], o.By)
				case o.Kind == model.Answer:
					asked[o.Session] = 0
				case o.Kind == model.Ended:
					delete(asked, o.Session)
				case o.Effect.Maker == 0:
					t.Fatalf("%+v is of an entry without a maker", o.Effect)
				}
			}
		}
		for tag := range rapid.IntRange(1, 60).Draw(t, "length") {
			now.Mono += time.Duration(rapid.SampledFrom([]int{0, 0, 0, 100, 30000}).Draw(t, "ms")) * ms
			server.Advance(now)
			hear()
			session := rapid.Int64Range(1, 4).Draw(t, "session")
			at, lives := asked[session]
			switch {
			case !lives:
			case rapid.IntRange(0, 19).Draw(t, "leaves") == 19:
				server.Disconnect(now, session)
				delete(asked, session)
			case at == 0:
				asked[session] = tag + 1
				server.Do(now, session, tag+1, drawnStatement.Draw(t, "statement"))
			}
			hear()
			carry(now, server, replica)
		}
		for session := range asked {
			server.Disconnect(now, session)
		}
		now.Mono += time.Hour // no closed session waits longer
		server.Advance(now)
		server.Outputs()
		carry(now, server, replica)
		anew := model.New(model.Options{})
		anew.CopyFrom(now, server)
		if got, want := server.AppendState(nil, now), anew.AppendState(nil, now); !bytes.Equal(got, want) {
			t.Fatalf("left behind: got\n%q, want\n%q", got, want)
		}
		want := contents(server, now)
		if got := contents(replica, now); got != want {
			t.Fatalf("the replica holds %+v, its primary %+v", got, want)
		}
		server.Crash(now, server.Committed())
		if got := contents(server, now); got != want {
			t.Fatalf("after a crash there is %+v, before there was %+v", got, want)
		}
		server.Crash(now, 0)
		if got := contents(server, now); got != [3]mysql.Row{} {
			t.Fatalf("nothing was kept, and there is %+v", got)
		}
	})
}

// carry sends replica the transactions that it lacks.
func carry(now model.Clock, server, replica *model.Server) {
	for _, txn := range server.Transactions(replica.Committed()) {
		replica.Replicate(now, txn)
	}
}

// contents returns the committed rows.
func contents(server *model.Server, now model.Clock) (rows [3]mysql.Row) {
	session := server.Connect(now)
	defer server.Disconnect(now, session)
	for i, resource := range []string{"k", "l", "m"} {
		server.Do(now, session, 1, mysql.Command{Verb: mysql.Select, Row: mysql.Row{Resource: resource}})
		rows[i] = server.Outputs()[0].Reply.Row
	}
	return rows
}
