package porttest

import (
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql/model"
	"github.com/lockcheck/lockcheck/stores/mysql"
)

// plannedMove is a move, and what the model answers to it.
type plannedMove struct {
	move
	answers []said
	purges  bool // it makes rows go for good
}

// said is an answer to a session.
type said struct {
	who   int
	reply mysql.Reply
}

// planned is those of moves that a real server has but one answer to. What
// hangs on how fast it is, or its purge, is left out.
func planned(moves []move) []plannedMove {
	var plan []plannedMove
	o := newOracle()
	for _, m := range moves {
		if o.waiting[m.who] != nil {
			continue // it has one statement at a time
		}
		probe := newOracle()
		for _, old := range plan {
			probe.do(old.move)
		}
		if probe.certain(m) {
			plan = append(plan, o.do(m))
		}
	}
	return plan
}

// oracle is the model on its way through a sequence.
type oracle struct {
	server   *model.Server
	sessions [3]int64
	waiting  [3]*mysql.Command // not answered yet
	views    [3]view
	tag      int
}

// view is what a session has that matters to the purge of rows.
type view struct {
	next, level mysql.Isolation
	open        bool // it is in a transaction
	snapshot    bool // which needs old rows
	deletes     bool // and has deleted some
}

func newOracle() *oracle {
	o := &oracle{server: model.New(model.Options{})}
	for i := range o.sessions {
		o.sessions[i] = o.server.Connect(model.Clock{})
	}
	return o
}

// do has the model do m.
func (o *oracle) do(m move) plannedMove {
	p := plannedMove{move: m}
	o.tag++
	o.waiting[m.who] = &m.do
	o.server.Do(model.Clock{Wall: time.Hour}, o.sessions[m.who], o.tag, m.do)
	for _, out := range o.server.Outputs() {
		for who, id := range o.sessions {
			if out.Kind == model.Answer && out.Session == id {
				p.answers = append(p.answers, said{who, out.Reply})
				p.purges = o.views[who].done(o.waiting[who], out.Reply) || p.purges
				o.waiting[who] = nil
			}
		}
	}
	return p
}

// certain does m, and tells whether what becomes of it does not hang on who is
// faster in a real server: of those who wait, one at most goes on by it, and
// what it makes go nobody needs any more. Nor may a transaction be rolled back
// in a deadlock: InnoDB chooses whose by how its locks happen to lie in lists,
// which the model follows as far as the cases of the table, and in one sequence
// of 2,500 not to the end.
func (o *oracle) certain(m move) bool {
	before := o.server.Resumed()
	p := o.do(m)
	others := 0
	for _, a := range p.answers {
		if a.who != m.who {
			others++
		}
		if a.reply.Code == mysql.DeadlockFound && m.do.Verb != mysql.GetLock {
			return false
		}
	}
	for _, v := range o.views {
		if p.purges && v.snapshot {
			return false
		}
	}
	return others <= 1 && o.server.Resumed()-before <= 1
}

// done takes in that c was answered with r, and tells whether rows have gone
// for good by it.
func (v *view) done(c *mysql.Command, r mysql.Reply) (purges bool) {
	switch {
	case c.Verb == mysql.Isolate:
		v.next = c.Isolation
	case c.Verb == mysql.Begin:
		purges = v.deletes
		*v = view{next: v.next, level: v.next, open: true}
	case c.Verb == mysql.Commit:
		purges = v.deletes
		*v = view{next: v.next}
	case c.Verb == mysql.Rollback, r.Code == mysql.DeadlockFound && c.Verb != mysql.GetLock:
		*v = view{next: v.next}
	case c.Verb == mysql.Select:
		v.snapshot = v.open && v.level == mysql.RepeatableRead
	case c.Verb == mysql.Delete && r.Affected > 0:
		v.deletes = v.open
		purges = !v.open
	}
	return purges
}
