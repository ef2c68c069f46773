package external

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/zookeeper"
	zkclient "github.com/lockcheck/lockcheck/internal/stores/zookeeper/client"
	"github.com/lockcheck/lockcheck/internal/worker"
)

// zookeeperStore is an ensemble. Everything of a run is below one node.
type zookeeperStore struct{ access }

func (z *zookeeperStore) find(context.Context) ([]*server, error) {
	return z.numbered("zk", worker.TargetZooKeeper)
}

// sessionTime is the length of our own sessions.
const sessionTime = 10 * time.Second

// in calls do in a session of our own.
func (z *zookeeperStore) in(ctx context.Context, do func(h zookeeper.Handle) error) error {
	dial := func(ctx context.Context, network, addr string) (net.Conn, error) {
		settings, err := z.TLSConfig(addr)
		if err != nil || settings == nil {
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		return (&tls.Dialer{Config: settings}).DialContext(ctx, network, addr)
	}
	port := zookeeper.Port{Transport: zkclient.New(zkclient.Options{Addrs: z.Addrs(), Timeout: answerLimit, Dial: dial})}
	h, err := port.Open(ctx, answerLimit, sessionTime)
	if err == nil {
		err = errors.Join(do(h), h.Close(context.WithoutCancel(ctx), answerLimit))
	}
	if err != nil {
		return fmt.Errorf("zookeeper at %s: %w", z.ZooKeeper, err)
	}
	return nil
}

// rootOf returns the node of the run with a prefix.
func rootOf(prefix string) string { return "/" + strings.TrimSuffix(prefix, "-") }

func (z *zookeeperStore) prepare(ctx context.Context, prefix string) error {
	return z.in(ctx, func(h zookeeper.Handle) error {
		_, err := h.Create(ctx, answerLimit, rootOf(prefix), "", 0)
		return err
	})
}

// declare does nothing: a declared node is below that of the run.
func (z *zookeeperStore) declare(context.Context, []worker.Entry) error { return nil }

func (z *zookeeperStore) strange(context.Context) ([]string, error) { return nil, nil }

func (z *zookeeperStore) close() {}

func (z *zookeeperStore) others(ctx context.Context) (roots []string, err error) {
	err = z.in(ctx, func(h zookeeper.Handle) (err error) {
		roots, err = z.roots(ctx, h, Mark)
		return err
	})
	return roots, err
}

// roots returns the nodes of runs that begin with a prefix.
func (z *zookeeperStore) roots(ctx context.Context, h zookeeper.Handle, prefix string) (roots []string, err error) {
	names, err := h.GetChildren(ctx, answerLimit, "/", false)
	for _, name := range names {
		if strings.HasPrefix(name+"-", prefix) {
			roots = append(roots, "/"+name)
		}
	}
	return roots, err
}

func (z *zookeeperStore) remove(ctx context.Context, prefix string) (removed []string, err error) {
	err = z.in(ctx, func(h zookeeper.Handle) error {
		roots, err := z.roots(ctx, h, prefix)
		for _, root := range roots {
			if wrong := removeNode(ctx, h, root); wrong != nil {
				err = errors.Join(err, fmt.Errorf("%s: %w", root, wrong))
			} else {
				removed = append(removed, root)
			}
		}
		return err
	})
	return removed, err
}

// removeNode removes a node with everything below it. A request may have been on its way
// when its client ended, so nodes may still appear.
func removeNode(ctx context.Context, h zookeeper.Handle, path string) error {
	for {
		names, err := h.GetChildren(ctx, answerLimit, path, false)
		for _, name := range names {
			err = errors.Join(err, removeNode(ctx, h, path+"/"+name))
		}
		if errors.Is(err, zookeeper.NoNode) {
			return nil
		}
		if err != nil {
			return err
		}
		err = h.Delete(ctx, answerLimit, path, zookeeper.AnyVersion)
		switch {
		case errors.Is(err, zookeeper.NoNode):
			return nil
		case !errors.Is(err, zookeeper.NotEmpty) || ctx.Err() != nil:
			return err
		}
	}
}
