package client_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/docker"
	"github.com/lockcheck/lockcheck/internal/docker/dockertest"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
)

// patience is how long a real server may take.
const patience = time.Minute

// While creates are under way an ensemble gives numbers beyond 2147483647, and
// none after that: the leader counts on from its proposals, and no server accepts
// a counter that is less than its own.
func TestNumbersOverflowUnderWay(t *testing.T) {
	const tries = 5 // to have them under way together: an ensemble holds an election if its followers stand still for syncLimit
	var paths []string
	for i := range tries {
		paths = append(paths, fmt.Sprintf("/p%d", i))
	}
	g := dockertest.ZooKeeper(t)
	must(t, g.Restore(t.Context(), snapshotZxid, snapshot(math.MaxInt32, paths...)))
	for _, path := range paths {
		numbers, err := createdUnderWay(t, g, path)
		if err != nil {
			t.Log(err)
			continue
		}
		if want := []string{"--2147483647", "--2147483648", "-2147483647"}; !slices.Equal(numbers, want) {
			t.Errorf("three creates got %q, want %q", numbers, want)
		}
		h := open(t, g.Addrs()...)
		for _, prefix := range []string{"/d-", "/e-"} {
			if got, err := h.Create(t.Context(), patience, path+prefix, "", zookeeper.Sequential); err != nil || got != path+prefix+"2147483647" {
				t.Errorf("after that came %s, %v", got, err)
			}
		}
		return
	}
	t.Errorf("in %d tries three creates were never proposed before the first was committed", tries)
}

// createdUnderWay returns the sorted numbers of three nodes below path that were
// created while the followers stood still. It returns an error if that did not
// succeed.
func createdUnderWay(t *testing.T, g *docker.Ensemble, path string) (numbers []string, err error) {
	leader, err := g.Leader(t.Context())
	if err != nil {
		return nil, err
	}
	var followers []*docker.ZooKeeperServer
	for _, s := range g.Servers {
		if s != leader {
			followers = append(followers, s)
		}
	}
	all := func(do func(*docker.ZooKeeperServer, context.Context) error) error {
		errs := make([]error, len(followers))
		var wg sync.WaitGroup
		for i, s := range followers {
			wg.Go(func() { errs[i] = do(s, context.WithoutCancel(t.Context())) })
		}
		wg.Wait()
		return errors.Join(errs...)
	}
	var handles []zookeeper.Handle
	for range 3 {
		h, err := port(client.Options{Addrs: []string{leader.Addr}}).Open(t.Context(), patience, 10*time.Second)
		if err != nil {
			return nil, err
		}
		defer h.Close(context.WithoutCancel(t.Context()), patience)
		handles = append(handles, h)
	}
	must(t, all((*docker.ZooKeeperServer).Pause))
	errs, names := make([]error, len(handles)), make([]string, len(handles))
	var asked sync.WaitGroup
	for i, h := range handles {
		asked.Go(func() {
			prefix := fmt.Sprintf("%s/%c", path, 'a'+i)
			names[i], errs[i] = h.Create(t.Context(), patience, prefix+"-", "", zookeeper.Sequential)
			names[i] = strings.TrimPrefix(names[i], prefix)
		})
	}
	time.Sleep(docker.Tick / 2) // the leader needs at most that long to propose them
	must(t, all((*docker.ZooKeeperServer).Continue))
	asked.Wait()
	slices.Sort(names)
	return names, errors.Join(errs...)
}
