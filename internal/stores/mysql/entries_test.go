package mysql_test

import (
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

const (
	nobody = iota
	old    // the operation with the grant
	newer  // the operation with the change
)

// row returns a row with that version and expiry, a queue and an owner; "-":
// NULL.
func row(version, expires int64, queue, owner string) *mysql.Row {
	text := func(s string) mysql.Text {
		if s == "-" {
			return mysql.Text{}
		}
		return mysql.Some(s)
	}
	return &mysql.Row{ID: 1, Resource: "k", Version: version, Expires: expires, Queue: text(queue), Owner: text(owner)}
}

func TestEntries(t *testing.T) {
	for _, c := range []struct {
		name          string
		means         mysql.Meaning
		before, after *mysql.Row
		maker         int
		kind          mysql.EffectKind
		now           int
	}{
		{"a lock's row", mysql.Grants, nil, row(0, 9, "-", "-"), nobody, mysql.Created, newer},
		{"the first in the queue", mysql.Grants, nil, row(0, 9, "a,", "-"), nobody, mysql.Created, newer},
		{"an owner", mysql.Grants, nil, row(1, 0, "-", "o"), nobody, mysql.Created, newer},
		{"created in advance", mysql.Keeps, nil, row(0, 0, "-", "-"), nobody, 0, nobody},
		{"deleted", mysql.Frees, row(0, 9, "-", "-"), nil, old, mysql.Removed, nobody},
		{"deleted, without a grant", mysql.Frees, row(3, 9, "b,", "-"), nil, nobody, 0, nobody},

		{"to an owner", mysql.Grants, row(1, 5, "-", "-"), row(2, 9, "-", "o"), nobody, mysql.Created, newer},
		{"from owner to owner", mysql.Grants, row(1, 5, "-", "p"), row(2, 9, "-", "o"), old, mysql.TakenOver, newer},
		{"from an owner", mysql.Frees, row(1, 9, "a,", "p"), row(2, 9, "a,", "-"), old, mysql.Removed, nobody},
		{"an owner prolongs", mysql.Keeps, row(1, 5, "-", "o"), row(2, 9, "-", "o"), old, mysql.Prolonged, old},
		{"an owner shortens", mysql.Keeps, row(1, 5, "-", "o"), row(2, 1, "-", "o"), old, mysql.Shortened, old},
		{"queued behind an owner", mysql.Keeps, row(1, 5, "-", "o"), row(2, 5, "a,", "o"), old, 0, old},
		{"queued, without a grant", mysql.Keeps, row(1, 0, "a,", "-"), row(2, 0, "a,b,", "-"), nobody, 0, nobody},

		{"expired, and no queue", mysql.Grants, row(1, 5, "-", "-"), row(2, 9, "-", "-"), old, mysql.TakenOver, newer},
		{"expired, and an empty queue", mysql.Grants, row(1, 5, "", "-"), row(2, 9, "a,", "-"), old, mysql.TakenOver, newer},
		{"expired, by one who does not queue", mysql.Grants, row(1, 5, "b,", "-"), row(2, 9, "-", "-"), old, mysql.TakenOver, newer},
		{"expired, without a grant", mysql.Grants, row(1, 5, "-", "-"), row(2, 9, "-", "-"), nobody, mysql.Created, newer},
		{"an expired head is stripped", mysql.Frees, row(1, 5, "a,b,", "-"), row(2, 9, "b,c,", "-"), old, mysql.Removed, nobody},
		{"an expired head strips itself", mysql.Frees, row(1, 5, "a,b,", "-"), row(2, 9, "b,a,", "-"), old, mysql.Removed, nobody},
		{"a head that is gone is stripped", mysql.Frees, row(1, 5, "a,b,", "-"), row(2, 9, "b,", "-"), nobody, 0, nobody},
		{"a head hands over", mysql.Frees, row(1, 5, "a,b,", "-"), row(2, 5, "b,", "-"), old, mysql.Removed, nobody},
		{"a head takes it", mysql.Grants, row(2, 5, "b,", "-"), row(2, 9, "b,", "-"), nobody, mysql.Created, newer},
		{"a head takes it from another", mysql.Grants, row(2, 5, "b,", "-"), row(2, 9, "b,", "-"), old, mysql.TakenOver, newer},
		{"a head takes it at the same time", mysql.Grants, row(2, 5, "b,", "-"), row(2, 5, "b,", "-"), nobody, mysql.Created, newer},
		{"a head that has it writes again", mysql.Grants, row(2, 5, "b,", "-"), row(2, 9, "b,", "-"), newer, mysql.Prolonged, newer},
		{"queued", mysql.Keeps, row(1, 5, "a,", "-"), row(2, 5, "a,b,", "-"), old, 0, old},
		{"queued behind one who does not queue", mysql.Keeps, row(0, 5, "-", "-"), row(1, 5, "b,", "-"), old, 0, old},

		{"the head raises the version with its grant", mysql.Grants, row(2, 5, "b,", "-"), row(3, 9, "b,", "-"), old, mysql.TakenOver, newer},
		{"a place with equal columns", mysql.Keeps, row(2, 5, "b,", "-"), row(3, 9, "b,", "-"), nobody, 0, nobody},
		{"undeclared", mysql.Undeclared, row(1, 5, "-", "-"), row(2, 9, "-", "-"), old, 0, old},
		{"undeclared, row deleted", mysql.Undeclared, row(1, 5, "-", "-"), nil, old, 0, old},
	} {
		t.Run(c.name, func(t *testing.T) {
			if kind, now := c.means.Entries(c.before, c.after, c.maker, newer); kind != c.kind || now != c.now {
				t.Errorf("got %v, now %d's; want %v, %d's", kind, now, c.kind, c.now)
			}
		})
	}
}

// A statement carries its meaning in a comment.
func TestMeaningsInComments(t *testing.T) {
	for m := mysql.Undeclared; m <= mysql.Keeps; m++ {
		if got := mysql.MeaningIn([]byte("UPDATE t SET a = 1" + m.Comment())); got != m {
			t.Errorf("%s was read as %s", m, got)
		}
	}
	if got := mysql.MeaningIn([]byte("UPDATE t SET a = ' /* lockcheck: frees */'")); got != mysql.Undeclared {
		t.Errorf("a value was read as %s", got)
	}
}
