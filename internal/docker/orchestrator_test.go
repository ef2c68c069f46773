package docker_test

import (
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
)

// Of two replicas the one with more changes takes the primary's place, and the other
// follows it.
func TestMySQLPromotesTheReplicaWithMoreChanges(t *testing.T) {
	t.Parallel()
	w := &witness{names: true}
	observed(t, tables(t, catalogue.Server{Replicas: 2}, w, nil, func(p *docker.Environment) {
		db := through(t, p, "c1")
		must(t, p.Isolate(1, []string{"mysql-1b"}))
		does(t, p, db, "c1", 1, insert, 5)
		inStep(t, p, "mysql-1c")
		must(t, p.Stop("mysql-1", true))
		promotion(t, p, w, 1)
		_, err := p.Restore(1)
		must(t, err)
		insist(t, p, db, 2, replace, 7)
		inStep(t, p, "mysql-1b") // which has to connect again
		must(t, p.Stop("mysql-1c", true))
		promotion(t, p, w, 2)
		insist(t, p, db, 3, remove)
	}))
	wantLines(t, w, "mysql-1: grant a of 1 by 1", "mysql-1c: promote after mysql-1",
		"mysql-1c: takeover a of 1 by 2", "mysql-1c: grant a of 2 by 2",
		"mysql-1b: promote after mysql-1c", "mysql-1b: remove a of 2 by 3")
}

// A primary that is back soon stays the primary, even if it has lost changes that a
// replica has: the replica is rebuilt.
func TestMySQLPrimaryComesBackWithLess(t *testing.T) {
	t.Parallel()
	w := &witness{names: true}
	observed(t, tables(t, catalogue.Server{Replicas: 1}, w, nil, func(p *docker.Environment) {
		db := through(t, p, "c1")
		does(t, p, db, "c1", 1, insert, 5)
		inStep(t, p, "mysql-1b")
		must(t, p.Stop("mysql-1", true))
		must(t, p.Start("mysql-1"))
		insist(t, p, db, 2, insert, 5)
		inStep(t, p, "mysql-1b")
		must(t, p.Stop("mysql-1", true))
		promotion(t, p, w, 1)
		insist(t, p, db, 3, remove)
	}))
	wantLines(t, w, "mysql-1: grant a of 1 by 1", "mysql-1: lose a of 1 by nobody", "mysql-1: grant a of 2 by 2",
		"mysql-1b: promote after mysql-1", "mysql-1b: remove a of 2 by 3")
}

// A promotion that has failed half-way is continued. The old primary, which still runs,
// and the other replica follow the new one.
func TestMySQLContinuesAFailedPromotion(t *testing.T) {
	t.Parallel()
	w := &witness{names: true}
	observed(t, tables(t, catalogue.Server{Replicas: 2}, w, nil, func(p *docker.Environment) {
		db := through(t, p, "c1")
		does(t, p, db, "c1", 1, insert, 5)
		inStep(t, p, "mysql-1b")
		must(t, docker.Halfway(p, "mysql-1b"))
		promotion(t, p, w, 1)
		insist(t, p, db, 2, remove)
		inStep(t, p, "mysql-1c")
		inStep(t, p, "mysql-1")
	}))
	wantLines(t, w, "mysql-1: grant a of 1 by 1", "mysql-1b: promote after mysql-1", "mysql-1b: remove a of 1 by 2")
}

// A replica that loses power follows again, whatever it has kept.
func TestMySQLReplicaLosesPower(t *testing.T) {
	t.Parallel()
	for _, fsync := range []catalogue.Fsync{catalogue.FsyncNone, catalogue.FsyncAlways} {
		t.Run("fsync="+string(fsync), func(t *testing.T) {
			t.Parallel()
			w := &witness{names: true}
			observed(t, tables(t, catalogue.Server{Replicas: 1, Fsync: fsync}, w, nil, func(p *docker.Environment) {
				db := through(t, p, "c1")
				does(t, p, db, "c1", 1, insert, 5)
				inStep(t, p, "mysql-1b")
				must(t, p.Stop("mysql-1b", true))
				must(t, p.Start("mysql-1b"))
				does(t, p, db, "c1", 2, replace, 5)
				inStep(t, p, "mysql-1b")
				must(t, p.Stop("mysql-1", true))
				promotion(t, p, w, 1)
				insist(t, p, db, 3, remove)
			}))
			wantLines(t, w, "mysql-1: grant a of 1 by 1", "mysql-1: takeover a of 1 by 2", "mysql-1: grant a of 2 by 2",
				"mysql-1b: promote after mysql-1", "mysql-1b: remove a of 2 by 3")
		})
	}
}

// The wait for a replica that can never follow ends with the server's own words, and the
// run with it.
func TestMySQLReplicaThatCannotFollow(t *testing.T) {
	t.Parallel()
	tables(t, catalogue.Server{Replicas: 1}, &witness{}, nil, func(p *docker.Environment) {
		inStep(t, p, "mysql-1b") // it has the table
		must(t, docker.Execute(p, "mysql-1b", strings.Replace(insert, "?", "5", 1)))
		does(t, p, through(t, p, "c1"), "c1", 1, insert, 5)
		until(t, p, "its replication has stopped", func() bool { return docker.Replicates(p, "mysql-1b") != nil })
		err := docker.Halfway(p, "mysql-1b")
		if err == nil || !strings.Contains(err.Error(), "mysql-1b has stopped its replication: ") || !strings.Contains(err.Error(), "Duplicate entry") {
			t.Errorf("a promotion ends with %v", err)
		}
		until(t, p, "the run fails", func() bool { return p.Alive() != nil })
	})
}
