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
	self, err := thisOwner()
	if err != nil {
		return nil, nil, err
	}
	e, err := open(ctx)
	if err != nil {
		return nil, nil, err
	}
	image, err := e.image(ctx, log)
	if err != nil {
		return nil, nil, errors.Join(err, e.close())
	}
	id, _, err := e.create(ctx, self, image, redisPort)
	if err != nil {
		return nil, nil, errors.Join(err, e.close())
	}
	do = func(script string, detach bool) error { return e.exec(ctx, id, script, detach) }
	remove = func() error { return errors.Join(e.remove(context.WithoutCancel(ctx), id), e.close()) }
	return do, remove, nil
}
