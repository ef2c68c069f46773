package docker_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/internal/catalogue"
	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
)

// A server of another image gets files of its own, and keeps them after a restart. The
// test uses our image under another name, so nothing of our setup is used.
func TestMySQLOfAnotherImage(t *testing.T) {
	dockertest.Require(t)
	image, err := docker.ServersImage(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(docker.MySQLEnv, image)
	w := &witness{}
	observed(t, tables(t, catalogue.Server{}, w, nil, func(p *docker.Environment) {
		db := through(t, p, "c1")
		does(t, p, db, "c1", 1, insert, 5)
		must(t, p.Stop("mysql-1", false))
		must(t, p.Start("mysql-1"))
		does(t, p, db, "c1", 2, remove)
	}))
	wantLines(t, w, "grant a of 1 by 1", "remove a of 1 by 2")
}

func TestAMissingMySQLImage(t *testing.T) {
	dockertest.Require(t)
	t.Setenv(docker.MySQLEnv, "lockcheck-nowhere:1")
	s, err := docker.MySQL(t.Context(), docker.Options{Log: t.Output()})
	if err == nil {
		must(t, s.Close(t.Context()))
	}
	if err == nil || !strings.Contains(err.Error(), "docker pull") || !strings.Contains(err.Error(), docker.MySQLEnv) {
		t.Errorf("%v", err)
	}
}

func TestFaultsThatAnotherImageLacks(t *testing.T) {
	lacking := func() (names []string) {
		for _, f := range faults.All() {
			if docker.MySQLLacks(f) != nil {
				names = append(names, f.Name)
			}
		}
		slices.Sort(names)
		return names
	}
	if names := lacking(); names != nil {
		t.Errorf("our image lacks %q", names)
	}
	t.Setenv(docker.MySQLEnv, "mysql:8")
	if names, want := lacking(), []string{"failover", "partition-servers", "server-jump", "server-skew"}; !slices.Equal(names, want) {
		t.Errorf("the other image lacks %q, want %q", names, want)
	}
}
