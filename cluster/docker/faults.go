package docker

import (
	"fmt"
	"time"

	"github.com/lockcheck/lockcheck/faults"
	"github.com/lockcheck/lockcheck/history"
)

// Pause stops the client's processes.
func (p *Place) Pause(name string) error {
	c, err := p.find(name)
	if err != nil {
		return err
	}
	return c.pause()
}

// Resume lets them go on.
func (p *Place) Resume(name string) error {
	c, err := p.find(name)
	if err != nil {
		return err
	}
	return c.resume()
}

// Kill ends the client's processes; the kernel closes their connections.
func (p *Place) Kill(name string) error {
	c, err := p.find(name)
	if err != nil {
		return err
	}
	return c.kill()
}

// PowerOff ends the client's processes, and its links keep the connections to
// the servers open and silent.
func (p *Place) PowerOff(name string) error {
	c, err := p.find(name)
	if err != nil {
		return err
	}
	c.link.dark.Store(true)
	return c.kill()
}

// Stop ends the server's process.
func (p *Place) Stop(name string, lose bool) error {
	if err := p.isServer(name); err != nil {
		return err
	}
	return p.server.stop(p.ctx, lose)
}

// Start starts it again.
func (p *Place) Start(name string) error {
	if err := p.isServer(name); err != nil {
		return err
	}
	return p.server.start(p.ctx)
}

// Jump moves its wall clock.
func (p *Place) Jump(name string, by time.Duration) error {
	if err := p.isServer(name); err != nil {
		return err
	}
	return p.server.jump(p.ctx, by)
}

func (p *Place) isServer(name string) error {
	if name != serverName {
		return fmt.Errorf("docker: no server %q", name)
	}
	return nil
}

// Impair disturbs a link until Restore.
func (p *Place) Impair(id int, im faults.Impairment) error {
	if _, err := p.find(im.Client); err != nil {
		return err
	}
	if im.Server != history.Resource {
		if err := p.isServer(im.Server); err != nil {
			return err
		}
	}
	p.disturb.begin(id, im)
	return nil
}

// Restore ends a disturbance; what it held arrives.
func (p *Place) Restore(id int) (hits int, err error) { return p.disturb.end(id) }
