package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	dockercontainer "github.com/moby/moby/api/types/container"
	dockerapi "github.com/moby/moby/client"
)

// The engine goes on creating a container after the end of the process that asked for
// it, and lists it only when it is complete. So Clean looks every cleanPause until it
// has found nothing for cleanQuiet, at most for cleanLimit.
const (
	cleanPause = 100 * time.Millisecond
	cleanQuiet = 3 * time.Second
	cleanLimit = 30 * time.Second
)

// Clean removes what ended runs left behind: workers, directories of TempDir, and
// containers, even those that the engine is still creating. It keeps everything of runs that live, on any terminal,
// and of owners that it cannot identify. removed lists what it removed, also on error.
func Clean(ctx context.Context) (removed []string, err error) {
	return cleanUntil(ctx, cleanQuiet)
}

// cleanUntil is Clean that ends after this time without a find.
func cleanUntil(ctx context.Context, enough time.Duration) (removed []string, err error) {
	e, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer e.close()
	begun := time.Now()
	for quiet := begun; ; {
		more, err := e.clean(ctx)
		// The engine may still list a removed container.
		more = slices.DeleteFunc(more, func(what string) bool { return slices.Contains(removed, what) })
		removed = append(removed, more...)
		switch now := time.Now(); {
		case len(more) > 0:
			quiet = now
		case err != nil, now.Sub(quiet) >= enough:
			return removed, err
		}
		if time.Since(begun) >= cleanLimit {
			return removed, err
		}
		select {
		case <-time.After(cleanPause):
		case <-ctx.Done():
			return removed, ctx.Err()
		}
	}
}

// clean removes what exists now.
func (e *engine) clean(ctx context.Context) (removed []string, err error) {
	removed, err = cleanWorkers(e.self)
	dirs, unremoved := cleanDirs(e.self)
	removed = append(removed, dirs...)
	errs := []error{err, unremoved}
	list, err := e.api.ContainerList(ctx, dockerapi.ContainerListOptions{
		All:     true,
		Filters: make(dockerapi.Filters).Add("label", ownerLabel),
	})
	errs = append(errs, err)
	for _, c := range list.Items {
		o, err := parseOwner(c.Labels[ownerLabel])
		if err != nil || !o.dead(e.self, c.State == dockercontainer.StateRunning) {
			continue
		}
		if c.State == dockercontainer.StateRemoving {
			continue // another process removes it
		}
		if err := e.remove(ctx, c.ID); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, "container "+c.ID[:12])
	}
	return removed, errors.Join(errs...)
}

// removeLimit is how long the engine may take to remove everything.
const removeLimit = time.Minute

// removals serialises removals of containers. Parallel removals have stopped Docker
// 20.10 for good: the end of a container's network waits for the locks of the network
// and of its controller, and meets another that holds them in the other order
// (libnetwork, sbLeave and processEndpointDelete).
var removals sync.Mutex

// remove removes a container with its data, within removeLimit. A container that is
// gone or being removed is no error.
func (e *engine) remove(ctx context.Context, id string) error {
	removals.Lock()
	defer removals.Unlock()
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	_, err := e.api.ContainerRemove(ctx, id, dockerapi.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	return nil
}
