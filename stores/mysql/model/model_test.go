package model_test

import (
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/stores/mysql"
	"github.com/lockcheck/lockcheck/stores/mysql/model"
)

const ms = time.Millisecond

// desk is a server whose statements have their tags by themselves, on a clock
// that stands still unless moved.
type desk struct {
	*testing.T
	*model.Server
	now model.Clock
	tag int
}

func newDesk(t *testing.T) *desk {
	return &desk{T: t, Server: model.New(model.Options{}), now: model.Clock{Wall: 1_700_000_000 * time.Second}}
}

func (d *desk) open() int64 { return d.Connect(d.now) }

func (d *desk) do(session int64, c mysql.Command) []model.Output {
	d.tag++
	d.Do(d.now, session, d.tag, c)
	return d.Outputs()
}
