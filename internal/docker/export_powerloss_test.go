package docker

import (
	"context"
	"errors"
	"io"
)

// These helpers start a server whose power can fail, and make it fail.
const (
	KeepSynced = keepSynced
	Faketime   = `echo +0 >/faketime/offset && ` + faketime
	PowerLoss  = powerLoss
)

// Container is a container of the servers' image without a server. do runs a shell
// script in it.
func Container(ctx context.Context, log io.Writer) (do func(script string, detach bool) error, remove func() error, err error) {
	e, image, err := prepare(ctx, Options{Log: log})
	if err != nil {
		return nil, nil, err
	}
	b := &box{engine: e}
	if _, err := b.create(ctx, image, redisPort); err != nil {
		return nil, nil, errors.Join(err, e.close())
	}
	do = func(script string, detach bool) error {
		if detach {
			return b.spawn(ctx, script)
		}
		return b.sh(ctx, script)
	}
	remove = func() error { return errors.Join(b.remove(context.WithoutCancel(ctx)), e.close()) }
	return do, remove, nil
}
