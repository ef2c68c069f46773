package worker

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/lockcheck/lockcheck/internal/stores/mysql"
)

// answering is a MySQL server that answers at once.
type answering struct{}

func (answering) ID() int64 { return 1 }
func (answering) Return()   {}
func (answering) Close()    {}
func (a answering) Open(context.Context, time.Duration) (mysql.Session, error) {
	return a, nil
}

func (answering) Do(context.Context, time.Duration, mysql.Command) (mysql.Reply, error) {
	return mysql.Reply{Int: 1}, nil
}

// Each statement has a point before and after it, in the pool or in a session. All
// clients of a process share one pool.
func TestPointsOfStatements(t *testing.T) {
	t.Parallel()
	pools := 0
	p := serve(t, func(s Setup) *fake {
		port, err := s.MySQL(func() (mysql.Transport, error) {
			pools++
			return answering{}, nil
		})
		if _, again := s.MySQL(func() (mysql.Transport, error) { return nil, errors.New("a second pool") }); err != nil || again != nil {
			t.Error(err, again)
		}
		return &fake{acquire: func(ctx context.Context) error {
			_, first := port.GetLock(ctx, 0, "a", 0)
			h, err := port.Open(ctx, 0)
			second := h.Ping(ctx, 0)
			h.Return()
			return errors.Join(first, err, second)
		}}
	})
	p.arm(`"f":"acquire","request":1,"onward":true`)
	p.say(acquireA)
	p.want(`{"event":"at","client":"c1","at":1,"f":"acquire","request":1,"sends":"GET_LOCK"}`)
	p.say(`{"go":1}`)
	p.want(`{"event":"at","client":"c1","at":2,"f":"acquire","request":2,"sends":"DO","sent":"GET_LOCK"}`)
	p.say(`{"go":2}`)
	p.want(`{"id":2,"ok":true}`)
	if pools != 1 {
		t.Errorf("%d pools", pools)
	}
}
