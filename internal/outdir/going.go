package outdir

import (
	"os"
	"path/filepath"
	"time"

	"github.com/lockcheck/lockcheck/internal/exit"
	"github.com/lockcheck/lockcheck/internal/index"
	"github.com/lockcheck/lockcheck/internal/results"
	"github.com/lockcheck/lockcheck/internal/rundir"
)

// Alive is how often a command that is under way touches its page. It shows other
// processes, in other containers too, that the command has not been killed.
const Alive = 2 * time.Second

// going is a command that is under way.
type going struct {
	page string   // file that says so
	made []string // directories that it made, the lowest first
	over chan struct{}
	done chan struct{}
}

// begin writes the page of a command that has begun, and touches it until stop.
func (d *Dir) begin(page string, now *results.Head) error {
	if err := ownPage(page); err != nil {
		return err
	}
	g := &going{page: page, over: make(chan struct{}), done: make(chan struct{})}
	for dir := filepath.Clean(d.Path); !rundir.Exists(dir); dir = filepath.Dir(dir) {
		g.made = append(g.made, dir)
	}
	if err := os.MkdirAll(d.Path, 0o777); err != nil {
		return Unwritable(err)
	}
	if err := (&index.Page{Head: index.HeadOf(now)}).Write(page); err != nil {
		return Unwritable(err)
	}
	d.going = g
	go g.touch()
	return nil
}

func (g *going) touch() {
	defer close(g.done)
	tick := time.NewTicker(Alive)
	defer tick.Stop()
	for {
		select {
		case <-g.over:
			return
		case now := <-tick.C:
			os.Chtimes(g.page, now, now) // if that fails, the command only looks killed
		}
	}
}

// Show writes the page of a command that has ended.
func (d *Dir) Show(p *index.Page) error {
	page := filepath.Join(d.Path, index.File)
	if d.going != nil {
		page = d.going.page
	}
	if err := p.Write(page); err != nil {
		return Unwritable(err)
	}
	d.Page = page
	d.stop()
	return nil
}

// End removes the page of a command that has ended without a result, and the directories
// that it made, if nothing is in them.
func (d *Dir) End() {
	if g := d.stop(); g != nil {
		os.Remove(g.page)
		for _, dir := range g.made {
			os.Remove(dir) // fails if there is something in it
		}
	}
}

// stop ends the command that is under way, and returns it, or nil without one.
func (d *Dir) stop() *going {
	g := d.going
	if d.going = nil; g != nil {
		close(g.over)
		<-g.done
	}
	return g
}

// ownPage returns an error if a page is there that is not one of lockcheck's.
func ownPage(page string) error {
	if err := rundir.Page.MayReplace(page); err != nil {
		return exit.Errorf(exit.Usage, "cannot write to --out: %s: %w", page, err)
	}
	return nil
}
