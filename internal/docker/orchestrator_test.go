package docker_test

import (
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
