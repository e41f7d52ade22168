package session

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"lightloom/southbound/hint"
)

// Bridge hands connections on to the API of the running fabric, for a program that cannot ask for it itself. It returns
// once in accepts no more, which ctx sees to when it ends, and all connections have ended.
func Bridge(ctx context.Context, in net.Listener) error {
	probe, err := dialControl() // for an error that says that no fabric is up
	if err == nil {
		err = probe.Close()
	}
	if err != nil {
		return errors.Join(err, in.Close())
	}
	return handOn(ctx, in, splice)
}

// handOn serves connections until in is closed, or accepts no more for another reason: then it ends those that it has.
func handOn(ctx context.Context, in net.Listener, serve func(context.Context, net.Conn)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer context.AfterFunc(ctx, func() { in.Close() })()
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	for {
		from, err := in.Accept()
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return hint.Wrap(err, "try again")
		}
		all.Go(func() { serve(ctx, from) })
	}
}

// splice joins a connection with one to the API until either ends. Where there is none any more, the caller's ends.
func splice(ctx context.Context, from net.Conn) {
	defer from.Close()
	to, err := dialControl()
	if err != nil {
		return
	}
	defer to.Close()
	defer context.AfterFunc(ctx, func() { from.Close(); to.Close() })()
	if sendRequest(to, request{API: true}) != nil {
		return
	}
	go func() {
		_, _ = io.Copy(to, from) // either end closes both
		to.Close()
	}()
	_, _ = io.Copy(from, to)
}
