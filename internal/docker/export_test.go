package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/container"
	dockerapi "github.com/moby/moby/client"

	"github.com/lockcheck/lockcheck/internal/env"
)

// OwnerOf is the owner that a process of this machine would be; earlier says
// by how many ticks it started before.
func OwnerOf(pid int, earlier uint64) string {
	o, err := thisOwner()
	if err != nil {
		return ""
	}
	start, _ := startOf(pid)
	return owner{pid: pid, start: start - min(earlier, start), boot: o.boot, space: o.space}.String()
}

// Create makes a container of an owner, which is not started.
func Create(ctx context.Context, owner string) (id string, err error) {
	e, _, image, err := prepare(ctx, Options{})
	if err != nil {
		return "", err
	}
	made, err := e.api.ContainerCreate(ctx, dockerapi.ContainerCreateOptions{
		Config: &container.Config{Image: image, Labels: map[string]string{ownerLabel: owner}},
	})
	return made.ID, errors.Join(err, e.close())
}

// Serverless is a place whose clients have workers, and no servers.
func Serverless(ctx context.Context, cfg env.Config, o env.Observer, command []string) (*Place, error) {
	p := newPlace(ctx, cfg, o, Options{})
	self, err := thisOwner()
	if err == nil {
		err = p.newClients(command, self)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Connections is how many connections the server of p has.
func Connections(p *Place) (int, error) {
	list, err := p.stores[0].current().command.do("CLIENT", "LIST")
	return strings.Count(list, " addr="), err
}

// Targets are what the worker of a client is told.
func Targets(p *Place, client string) map[string][]string {
	c, err := p.find(client)
	if err != nil {
		return nil
	}
	return c.targets()
}

// As has what comes over a client's links belong to an operation.
func As(p *Place, client string, op int) {
	if c, err := p.find(client); err == nil {
		c.op.Store(int64(op))
	}
}

// Missing is how many lines of the audit the MySQL server may still show late.
func Missing(p *Place) int {
	p.mysql.reading.Lock()
	defer p.mysql.reading.Unlock()
	return len(p.mysql.audit.missing)
}

// Halfway is a promotion of one of MySQL's replicas that has failed when the replica
// followed nobody any more.
func Halfway(p *Place, replica string) error {
	defer p.mysql.change()()
	for _, s := range p.mysql.servers {
		if s.name == replica {
			p.mysql.succeeds(s)
			return p.mysql.detach(p.ctx, s)
		}
	}
	return fmt.Errorf("there is no %s", replica)
}

// Has tells whether a replica of MySQL's has done all that the primary has.
func Has(p *Place, replica string) bool {
	position := func(s *mysqld, variable string) (at string) {
		s.db.QueryRowContext(p.ctx, "SELECT @@GLOBAL."+variable).Scan(&at)
		return at
	}
	for _, s := range p.mysql.servers {
		if s.name == replica {
			at := position(p.mysql.leader(), "gtid_binlog_pos")
			return at != "" && at == position(s, "gtid_slave_pos")
		}
	}
	return false
}

// Via is where a client finds a server.
func Via(p *Place, client, server string) string {
	c, err := p.find(client)
	if err != nil {
		return ""
	}
	for _, l := range c.links {
		if l.far.called() == server {
			return l.addr()
		}
	}
	return ""
}

// EndServer kills a server's process, though no fault is to end it. Anew has
// another one take its place, of Redis: it needs nothing else.
func EndServer(ctx context.Context, p *Place, name string, anew bool) error {
	m, err := p.machine(name)
	if err != nil {
		return err
	}
	switch s := m.(type) {
	case *member:
		return s.Kill(ctx)
	case *mysqld:
		return s.Kill(ctx)
	case *server:
		err = s.engine.exec(ctx, s.id, killServer, false)
		if err == nil && anew {
			err = s.engine.exec(ctx, s.id, "exec redis-server "+s.command, true)
		}
		if err == nil && anew {
			err = s.answered(ctx)
		}
	}
	return err
}

// Interrupt ends p as the end of its context does.
func Interrupt(p *Place) { p.cancel() }

// Left are the servers of p, which is closed, whose containers are still there.
func Left(ctx context.Context, p *Place) (names []string, err error) {
	e, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer e.close()
	ids := map[string]string{}
	for _, s := range p.servers() {
		ids[s.name] = s.id
	}
	if p.mysql != nil {
		for _, s := range p.mysql.servers {
			ids[s.name] = s.id
		}
	}
	for name, id := range ids {
		_, err := e.api.ContainerInspect(ctx, id, dockerapi.ContainerInspectOptions{})
		if !errdefs.IsNotFound(err) {
			names = append(names, fmt.Sprint(name, " ", err))
		}
	}
	return names, nil
}

// ServersImage is the image of the servers.
func ServersImage(ctx context.Context, log io.Writer) (string, error) {
	e, _, image, err := prepare(ctx, Options{Log: log})
	if err != nil {
		return "", err
	}
	return image, e.close()
}

// LastLines is what of the log of a build that failed is told.
func LastLines(log string) string { return lastLines(log) }

// NewBase is what the servers' image is built from under a name of its own, so that
// there is no image of it yet; its layers are known to the engine. remove removes
// both names.
func NewBase(ctx context.Context) (base string, remove func(context.Context) error, err error) {
	e, _, _, err := prepare(ctx, Options{})
	if err != nil {
		return "", nil, err
	}
	base = "lockcheck-base-of-a-test:1"
	_, err = e.api.ImageTag(ctx, dockerapi.ImageTagOptions{Source: baseImage(), Target: base})
	remove = func(ctx context.Context) error {
		_, err := e.api.ImageRemove(ctx, base, dockerapi.ImageRemoveOptions{})
		tag, _, build := imageOf(base)
		_, unbuilt := e.api.ImageRemove(ctx, imageRepo+":"+tag, dockerapi.ImageRemoveOptions{})
		return errors.Join(err, build, unbuilt, e.close())
	}
	return base, remove, err
}
