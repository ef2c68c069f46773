package docker

import (
	"context"
	"errors"
	"fmt"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	dockerapi "github.com/moby/moby/client"
)

// Clean removes what runs left behind whose process has ended: containers,
// and workers. What belongs to a run that lives, on whichever terminal, stays;
// so does what cannot be told. removed says what was removed, also with an
// error.
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
	return e.clean(ctx, self)
}

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
		if err := e.remove(ctx, c.ID); err != nil {
			errs = append(errs, err)
			continue
		}
		removed = append(removed, "container "+c.ID[:12])
	}
	return removed, errors.Join(errs...)
}

// remove removes a container with what it wrote. One that is gone, or about
// to go, is no error.
func (e *engine) remove(ctx context.Context, id string) error {
	_, err := e.api.ContainerRemove(ctx, id, dockerapi.ContainerRemoveOptions{Force: true, RemoveVolumes: true})
	if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) {
		return fmt.Errorf("remove container %s: %w", id, err)
	}
	return nil
}
