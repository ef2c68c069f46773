package explore

import (
	"context"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/checker"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/stores/mysql"
	"github.com/lockcheck/lockcheck/locks"
)

// rewriter changes statements on their way to the server.
type rewriter struct {
	mysql.Transport
	change func(*mysql.Command)
}

func (r rewriter) Do(ctx context.Context, timeout time.Duration, c mysql.Command) (mysql.Reply, error) {
	r.change(&c)
	return r.Transport.Do(ctx, timeout, c)
}

// A statement means what the lock declares, whatever columns it changes: a correct
// variant of mysql-fair, whose head raises the version with its grant, raises no alarm.
// Without a declaration, ownership and answers are not judged.
func TestAStatementMeansWhatItsLockDeclares(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		change func(*mysql.Command)
		want   checker.Outcome
	}{
		{"the head raises the version", func(c *mysql.Command) {
			if c.Verb == mysql.Update && c.Set == mysql.Expires {
				c.Set, c.Row.Version = mysql.Expires|mysql.Version, c.Match.Version+1
			}
		}, checker.Valid},
		{"undeclared", func(c *mysql.Command) { c.Means = mysql.Undeclared }, checker.NA},
	} {
		lock, _ := catalogue.FindLock("mysql-fair")
		unchanged := lock.New
		lock.ID = "changed"
		lock.New = func(e catalogue.Env) locks.Locker {
			e.MySQL.Transport = rewriter{e.MySQL.Transport, tt.change}
			return unchanged(e)
		}
		s := settings("changed", "none", 200)
		s.Use = &lock
		r := random(t, s)
		if out := r.Outcome(checker.Exclusion); out != checker.Valid {
			t.Errorf("%s: exclusion is %s", tt.name, out)
		}
		for _, p := range []checker.Property{checker.Ownership, checker.Answers} {
			if out := r.Outcome(p); out != tt.want {
				t.Errorf("%s: %s is %s, want %s", tt.name, p, out, tt.want)
			}
		}
	}
}
