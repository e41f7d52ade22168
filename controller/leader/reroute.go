package leader

import (
	"log/slog"
	"sync"
	"time"

	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// reroute sends the Sets that packets wait for, and logs the times from the change of the devices'
// ports to the report here, to the send of the Sets, and to their first and last answers.
func (l *Leader) reroute(sets []rollout.Set, told []southbound.DeviceEvent, now time.Duration,
	workers map[southbound.DeviceID]*worker) {
	if len(sets) == 0 {
		return
	}
	r := &reaction{log: l.cfg.Logger, clock: l.cfg.Clock, begun: begun(told, now), told: now,
		sent: l.cfg.Clock(),
		left: len(sets), sets: len(sets)}
	for i := range sets {
		l.setThen(workers[sets[i].Device], sets[i], r.answered)
	}
}

// begun is the first instant at which a device reports a change of a port, or now if none has a clock.
func begun(told []southbound.DeviceEvent, now time.Duration) time.Duration {
	at := now
	for _, e := range told {
		if (e.Kind == southbound.PortDown || e.Kind == southbound.PortUp) && e.At > 0 {
			at = min(at, e.At)
		}
	}
	return at
}

// reaction is one change of tables that packets wait for. Instants are of the run.
type reaction struct {
	log               *slog.Logger
	clock             func() time.Duration
	begun, told, sent time.Duration

	mu         sync.Mutex
	first      time.Duration
	sets, left int
}

// answered notes that one of its Sets has an answer.
func (r *reaction) answered() {
	now := r.clock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.left == r.sets {
		r.first = now
	}
	if r.left--; r.left > 0 {
		return
	}
	since := func(at time.Duration) time.Duration { return (at - r.begun).Round(time.Microsecond) }
	r.log.Info("ports changed", "sets", r.sets, "told", since(r.told), "sent", since(r.sent), "first",
		since(r.first),
		"last", since(now))
}
