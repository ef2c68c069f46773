package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	dockercontainer "github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	testcontainers "github.com/testcontainers/testcontainers-go"
	tclog "github.com/testcontainers/testcontainers-go/log"
)

// create makes the container, or takes one of the pool, whose ports are published at addrs.
// Addr is the first of them. If the container does not start, it is removed.
func (b *box) create(ctx context.Context, image string, ports ...string) (addrs []string, err error) {
	s := shapeOf(b, image, ports)
	if c := b.engine.pool.take(s); c != nil {
		b.container, b.Addr, b.Host = c, c.addrs[0], c.host
		return c.addrs, nil
	}
	c, err := testcontainers.Run(ctx, image, sleepOnly(image),
		testcontainers.WithLogger(tclog.NewNoopLogger()),
		testcontainers.WithLabels(map[string]string{ownerLabel: b.engine.self.String()}),
		testcontainers.WithExposedPorts(ports...),
		testcontainers.WithHostConfigModifier(func(c *dockercontainer.HostConfig) {
			c.PortBindings = network.PortMap{}
			for _, port := range ports {
				c.PortBindings[network.MustParsePort(port)] = []network.PortBinding{{HostIP: b.engine.bind}}
			}
			if b.meets {
				c.CapAdd = append(c.CapAdd, "NET_ADMIN")
			}
			if b.inMemory {
				c.Tmpfs = map[string]string{"/data": ""}
			}
		}),
	)
	id := ""
	if c != nil {
		id = c.GetContainerID()
	}
	for i := 0; i < len(ports) && err == nil; i++ {
		var mapped interface{ Port() string }
		if mapped, err = c.MappedPort(ctx, ports[i]); err == nil {
			addrs = append(addrs, net.JoinHostPort(b.engine.host, mapped.Port()))
		}
	}
	if err != nil {
		if id != "" {
			err = errors.Join(err, b.engine.remove(context.WithoutCancel(ctx), id))
		}
		return nil, fmt.Errorf("start a container of %s: %w", image, err)
	}
	b.container, b.Addr = &container{shape: s, id: id, addrs: addrs}, addrs[0]
	if b.meets {
		err = b.findHost(ctx)
		b.container.host = b.Host
	}
	return addrs, err
}

// sleepOnly makes the first process of a container only sleep, as our own image does.
func sleepOnly(image string) testcontainers.CustomizeRequestOption {
	return func(r *testcontainers.GenericContainerRequest) error {
		if image == stockMySQL() {
			r.Entrypoint, r.Cmd = []string{"sleep"}, []string{"infinity"}
		}
		return nil
	}
}

// prepare opens the engine and finds the image, for servers outside of runs.
func prepare(ctx context.Context, opts Options) (e *engine, image string, err error) {
	if e, err = open(ctx); err != nil {
		return nil, "", err
	}
	if image, err = e.image(ctx, opts.Logger().Writer()); err != nil {
		return nil, "", errors.Join(err, e.close())
	}
	return e, image, nil
}

// ServersImage returns the name of the image of the servers, which it builds if it is
// missing. log gets what image says about it.
func ServersImage(ctx context.Context, log io.Writer) (string, error) {
	e, image, err := prepare(ctx, Options{Log: log})
	if err != nil {
		return "", err
	}
	return image, e.close()
}
