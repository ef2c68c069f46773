package docker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/containerd/errdefs"
	dockercontainer "github.com/moby/moby/api/types/container"
	dockerapi "github.com/moby/moby/client"

	"github.com/lockcheck/lockcheck/internal/env"
)

// These make a server whose power can fail, and make it fail.
const (
	KeepSynced = keepSynced
	Faketime   = `echo +0 >/faketime/offset && ` + faketime
	PowerLoss  = powerLoss
)

// CleanUntil is Clean that ends after another time without a find.
var CleanUntil = cleanUntil

// Run runs a shell script in the container of m. With detach it does not wait for its end.
func (m *Member) Run(ctx context.Context, script string, detach bool) error {
	if detach {
		return m.spawn(ctx, script)
	}
	return m.sh(ctx, script)
}

// OwnerOf returns the owner of a process of this machine that started this many ticks
// earlier.
func OwnerOf(pid int, earlier uint64) string {
	o, err := thisOwner()
	if err != nil {
		return ""
	}
	start, _ := startOf(pid)
	return owner{pid: pid, start: start - min(earlier, start), boot: o.boot, space: o.space}.String()
}

// Create makes a container of an owner without starting it.
func Create(ctx context.Context, owner string) (id string, err error) {
	e, image, err := prepare(ctx, Options{})
	if err != nil {
		return "", err
	}
	made, err := e.api.ContainerCreate(ctx, dockerapi.ContainerCreateOptions{
		Config: &dockercontainer.Config{Image: image, Labels: map[string]string{ownerLabel: owner}},
	})
	return made.ID, errors.Join(err, e.close())
}

// Serverless returns an environment whose clients have workers, without servers.
func Serverless(ctx context.Context, cfg env.Config, o env.Observer, command []string) (*Environment, error) {
	p := newEnvironment(ctx, cfg, o, Options{})
	self, err := thisOwner()
	if err == nil {
		err = p.newClients(command, self)
	}
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// Connections returns how many connections the server of p has.
func Connections(p *Environment) (int, error) {
	list, err := p.stores[0].current().command.do("CLIENT", "LIST")
	return strings.Count(list, " addr="), err
}

// Targets returns the targets of a client's worker.
func Targets(p *Environment, client string) map[string][]string {
	if addrs := p.Addrs(client); addrs != nil {
		return p.targets(addrs)
	}
	return nil
}

// As assigns further requests on a client's links to an operation.
func As(p *Environment, client string, op int) {
	p.Assign(client, op) // of a client that the test has
}

// Missing returns how many lines of the audit may still appear late.
func Missing(p *Environment) int {
	p.mysql.reading.Lock()
	defer p.mysql.reading.Unlock()
	return len(p.mysql.audit.missing)
}

// Waits returns how many connections of a MySQL server wait for a named lock.
func Waits(p *Environment) (n int) {
	const q = "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE = 'User lock'"
	p.mysql.leader().db.QueryRowContext(p.Ctx, q).Scan(&n)
	return n
}

// Halfway starts the promotion of a MySQL replica and fails when the replica no longer
// follows a primary.
func Halfway(p *Environment, replica string) error {
	defer p.mysql.change()()
	s := p.machines[replica].(*mysqld)
	p.mysql.replaceBy(s)
	return p.mysql.detach(p.Ctx, s)
}

// Has reports whether a MySQL replica has all changes of the primary.
func Has(p *Environment, replica string) bool {
	position := func(s *mysqld, variable string) (at string) {
		s.db.QueryRowContext(p.Ctx, "SELECT @@GLOBAL."+variable).Scan(&at)
		return at
	}
	at := position(p.mysql.leader(), "gtid_binlog_pos")
	return at != "" && at == position(p.machines[replica].(*mysqld), "gtid_slave_pos")
}

// Execute executes statements on a MySQL server, which does not log them.
func Execute(p *Environment, server string, statements ...string) error {
	s := p.machines[server].(*mysqld)
	return s.each(p.Ctx, append([]string{"SET sql_log_bin = 0"}, statements...)...)
}

// Replicates returns an error if a MySQL replica can apply no further change.
func Replicates(p *Environment, replica string) error {
	_, err := p.machines[replica].(*mysqld).status(p.Ctx)
	return err
}

// Via returns the address at which a client reaches a server.
func Via(p *Environment, client, server string) string {
	for i, addr := range p.Addrs(client) {
		if p.far[i].Name() == server {
			return addr
		}
	}
	return ""
}

// EndServer kills a server's process without a fault. With anew another process of
// Redis replaces it.
func EndServer(ctx context.Context, p *Environment, name string, anew bool) error {
	err := p.machines[name].(interface{ Kill(context.Context) error }).Kill(ctx)
	if s, redis := p.machines[name].(*server); err == nil && redis && anew {
		if err = s.spawn(ctx, "exec redis-server "+s.command); err == nil {
			err = s.awaitAnswer(ctx, s.ping)
		}
	}
	return err
}

// Interrupt ends p like the end of its context.
func Interrupt(p *Environment) { p.Clients.Interrupt() }

// boxed is a server in a container.
type boxed interface {
	containerID() string
	sh(ctx context.Context, script string) error
}

func (b *box) containerID() string { return b.container.id }

// Containers returns the containers of the servers that keep locks, by their names.
func Containers(p *Environment) map[string]string {
	ids := map[string]string{}
	for name, m := range p.machines {
		ids[name] = m.(boxed).containerID()
	}
	return ids
}

// RunIn runs a script in the container of a server.
func RunIn(p *Environment, server, script string) error {
	return p.machines[server].(boxed).sh(p.Ctx, script)
}

// Left returns the servers of a closed environment whose containers still exist.
func Left(ctx context.Context, p *Environment) (names []string, err error) {
	e, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer e.close()
	for name, id := range Containers(p) {
		_, err := e.api.ContainerInspect(ctx, id, dockerapi.ContainerInspectOptions{})
		if !errdefs.IsNotFound(err) {
			names = append(names, fmt.Sprint(name, " ", err))
		}
	}
	return names, nil
}

// LastLines returns the part of a failed build's log that an error shows.
func LastLines(log string) string { return lastLines(log) }

// NewBase returns a new name for the base of the servers' image, so that no image of it
// exists yet; the engine knows its layers. remove removes both names.
func NewBase(ctx context.Context) (base string, remove func(context.Context) error, err error) {
	e, _, err := prepare(ctx, Options{})
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
