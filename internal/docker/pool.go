package docker

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// Pool keeps the containers of runs that have ended, for the next runs: to make a container
// and to remove it takes more of the machine than most servers do. The zero value is
// ready. A nil Pool keeps nothing.
type Pool struct {
	mu   sync.Mutex
	idle []*container
}

// mostIdle is how many containers a pool keeps: those of three runs with five servers at a
// time, and more.
const mostIdle = 24

// container is a container and what reaches it.
type container struct {
	shape
	id     string
	addrs  []string // of its ports, on this machine
	host   string   // for other containers; "": unused
	shells shells
}

// shape is what a server needs of its container.
type shape struct {
	image, ports    string
	meets, inMemory bool
}

// take returns a container of a shape, or nil if there is none.
func (p *Pool) take(s shape) *container {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, c := range p.idle {
		if c.shape == s {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			return c
		}
	}
	return nil
}

// put keeps a container, and reports whether there is room for it.
func (p *Pool) put(c *container) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == mostIdle {
		return false
	}
	p.idle = append(p.idle, c)
	return true
}

// Close removes all containers that no run uses now.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) == 0 {
		return nil
	}
	e, err := open(ctx)
	if err != nil {
		return err
	}
	errs := []error{}
	for _, c := range p.idle {
		c.shells.close()
		errs = append(errs, e.remove(ctx, c.id))
	}
	p.idle = nil
	return errors.Join(append(errs, e.close())...)
}

// emptyContainer is a script that ends the server of a run, and removes everything that the
// run has changed. It kills the process whose birth is stored: the server may not have
// written its number yet.
const emptyContainer = `if read -r p at 2>/dev/null </data/born; then kill -9 "$p" 2>/dev/null; ` + awaitGone + ` || exit; fi
rm -rf /data/* /data/.[!.]* /faketime/*`

// leave ends the use of a container by a run. It returns false if no other run can use it.
func (b *box) leave(ctx context.Context) bool {
	script := emptyContainer
	if b.meets {
		script += "\n" + healScript
	}
	return b.engine.pool != nil && b.sh(ctx, script) == nil && b.engine.pool.put(b.container)
}

func shapeOf(b *box, image string, ports []string) shape {
	return shape{image, strings.Join(ports, " "), b.meets, b.inMemory}
}
