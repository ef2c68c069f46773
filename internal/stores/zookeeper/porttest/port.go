package porttest

import (
	"errors"
	"slices"
	"testing"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	"github.com/lockcheck/lockcheck/locks"
)

// runPort calls each method of the handle at least twice: once with success and
// once with a refusal.
func runPort(t *testing.T, w World) {
	x := newTester(t, w)
	ctx, h, k := t.Context(), x.open(0, long), x.root+"/k"
	refused := func(what string, err, want error) {
		t.Helper()
		if !errors.Is(err, want) || !locks.IsDefinite(err) {
			t.Errorf("%s: got error %v, want a definite %v", what, err, want)
		}
	}
	fine := func(what string, yes bool, err error) {
		t.Helper()
		if err != nil || !yes {
			t.Errorf("%s: unexpected result, or error %v", what, err)
		}
	}

	_, found, err := h.Exists(ctx, patience, k, true)
	fine("Exists of a missing node", !found, err)
	_, _, err = h.GetData(ctx, patience, k, false)
	refused("GetData of a missing node", err, zookeeper.NoNode)
	_, err = h.GetChildren(ctx, patience, k, false)
	refused("GetChildren of a missing node", err, zookeeper.NoNode)
	path, err := h.Create(ctx, patience, k, "v", ephemeral)
	fine("Create", path == k, err)
	x.wantEvents(h, created("/k"))
	_, err = h.Create(ctx, patience, k, "v", persistent)
	refused("Create, there already", err, zookeeper.NodeExists)
	_, err = h.Create(ctx, patience, k+"/a", "", persistent)
	refused("Create below an ephemeral node", err, zookeeper.NoChildrenForEphemerals)
	stat, found, err := h.Exists(ctx, patience, k, false)
	fine("Exists", found && stat.Owner == h.ID(), err)
	stat, err = h.SetData(ctx, patience, k, "w", 0)
	fine("SetData", stat.Version == 1, err)
	_, err = h.SetData(ctx, patience, k, "x", 0)
	refused("SetData, another version", err, zookeeper.BadVersion)
	data, again, err := h.GetData(ctx, patience, k, true)
	fine("GetData", data == "w" && again == stat, err)
	names, err := h.GetChildren(ctx, patience, x.root, true)
	fine("GetChildren", slices.Equal(names, []string{"k"}), err)
	fine("Sync", true, h.Sync(ctx, patience, x.root))
	refused("Delete, not empty", h.Delete(ctx, patience, x.root, anyVersion), zookeeper.NotEmpty)
	refused("Delete, a bad path", h.Delete(ctx, patience, "k", anyVersion), zookeeper.BadArguments)
	fine("Delete", true, h.Delete(ctx, patience, k, 1))
	x.wantEvents(h, deleted("/k"), listChanged(""))
	x.wantNoEvent(h)
}
