package leader

import (
	"context"
	"time"

	"lightloom/controller/loop"
	"lightloom/southbound"
)

// worker is the one queue of Sets and reads of a device.
type worker struct {
	id     southbound.DeviceID
	dev    southbound.Device
	leader *Leader
	jobs   chan func(context.Context)
}

// push queues a call, or says that it cannot: a queue that is full means a device that has not answered for very long.
func (w *worker) push(f func(context.Context)) bool {
	select {
	case w.jobs <- f:
		return true
	default:
		return false
	}
}

func (w *worker) run(ctx context.Context) {
	for {
		select {
		case f := <-w.jobs:
			c, cancel := context.WithTimeout(ctx, w.leader.cfg.SetTimeout)
			f(c)
			cancel()
		case <-ctx.Done():
			return
		}
	}
}

// read asks the device for its whole state; a failure is told after a pause, so that the next try is not at once.
func (w *worker) read(ctx context.Context) {
	seen, err := w.dev.Read(ctx)
	if err != nil {
		pause(ctx, w.leader.cfg.Retry)
	}
	w.leader.inbox.put(func(in *loop.Inputs) {
		in.Seen = append(in.Seen, loop.DeviceSeen{Device: w.id, Seen: seen, Err: err})
	})
}

// watch keeps the device's stream open.
func (w *worker) watch(ctx context.Context) {
	for ctx.Err() == nil {
		err := w.dev.Watch(ctx, func(e southbound.DeviceEvent) {
			e.Device = w.id
			w.leader.inbox.put(func(in *loop.Inputs) { in.Devices = append(in.Devices, e) })
		})
		if ctx.Err() != nil {
			return
		}
		w.leader.cfg.Logger.Warn("device stream ended", "device", w.id, "error", err)
		w.leader.inbox.put(func(in *loop.Inputs) {
			in.Devices = append(in.Devices, southbound.DeviceEvent{Device: w.id, Kind: southbound.Lost})
		})
		pause(ctx, w.leader.cfg.Retry)
	}
}

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
