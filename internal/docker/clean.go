package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	dockerapi "github.com/moby/moby/client"
)

// The engine goes on with a container that it was asked for when the process that
// asked has ended, and lists it only when it is made. So Clean looks again every
// cleanPause until it has found nothing for cleanQuiet, at most for cleanLimit.
const (
	cleanPause = 100 * time.Millisecond
	cleanQuiet = 3 * time.Second
	cleanLimit = 30 * time.Second
)

// Clean removes what runs left behind whose process has ended: containers, also
// those that the engine is still creating, and workers. What belongs to a run that
// lives, on whichever terminal, stays; so does what cannot be told. removed says what
// was removed, also with an error.
func Clean(ctx context.Context) (removed []string, err error) {
	e, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer e.close()
	self, err := thisOwner()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	for quiet := begun; ; {
		more, err := e.clean(ctx, self)
		// The engine may still list what it has removed.
		more = slices.DeleteFunc(more, func(what string) bool { return slices.Contains(removed, what) })
		removed = append(removed, more...)
		switch now := time.Now(); {
		case len(more) > 0:
			quiet = now
		case err != nil, now.Sub(quiet) >= cleanQuiet:
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

// clean removes what there is now.
func (e *engine) clean(ctx context.Context, self owner) (removed []string, err error) {
	removed, err = cleanWorkers(self)
	errs := []error{err}
	list, err := e.api.ContainerList(ctx, dockerapi.ContainerListOptions{
		All:     true,
		Filters: make(dockerapi.Filters).Add("label", ownerLabel),
	})
	errs = append(errs, err)
	for _, c := range list.Items {
		o, err := parseOwner(c.Labels[ownerLabel])
		if err != nil || !o.dead(self, c.State == container.StateRunning) {
			continue
		}
		if c.State == container.StateRemoving {
			continue // somebody else, who starts just now, is at it
		}
		if err := e.remove(ctx, c.ID); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, "container "+c.ID[:12])
	}
	return removed, errors.Join(errs...)
}

// removing lets containers be removed one at a time. Side by side they have been
// seen to stop Docker 20.10 for good: an end of a container's network that waits
// for the locks of the network and of its controller meets one that holds them
// in the other order (libnetwork, sbLeave and processEndpointDelete).
var removing sync.Mutex

// remove removes a container with what it wrote, within removeLimit. One that is
// gone, or about to go, is no error.
func (e *engine) remove(ctx context.Context, id string) error {
	removing.Lock()
	defer removing.Unlock()
	ctx, cancel := context.WithTimeout(ctx, removeLimit)
	defer cancel()
	_, err := e.api.ContainerRemove(ctx, id, dockerapi.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	return nil
}
