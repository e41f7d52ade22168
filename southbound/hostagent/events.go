package hostagent

import (
	"fmt"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// eventLog numbers events from 1 and keeps them until they are acknowledged. Its owner's lock guards it.
type eventLog struct {
	first   uint64 // number of kept[0]
	kept    []southbound.Event
	last    time.Duration
	changed chan struct{} // closed, and replaced, when an event is added
}

func newEventLog() eventLog { return eventLog{first: 1, changed: make(chan struct{})} }

// next is the number that the next event gets.
func (l *eventLog) next() uint64 { return l.first + uint64(len(l.kept)) }

// add numbers an event. Instants rise strictly, so that the order of numbers is the order of events.
func (l *eventLog) add(e southbound.Event) {
	e.At = max(e.At, l.last+1)
	l.last = e.At
	l.kept = append(l.kept, e)
	close(l.changed)
	l.changed = make(chan struct{})
}

// from copies at most n events from number num on; num 0 means the oldest. It returns the number of the
// first.
func (l *eventLog) from(num uint64, n int) (uint64, []southbound.Event, error) {
	if num == 0 {
		num = l.first
	}
	if num < l.first || num > l.next() {
		return 0, nil, fmt.Errorf("watch from event %d: %d to %d are kept: %w", num, l.first,
			l.next()-1, wire.ErrRestarted)
	}
	rest := l.kept[num-l.first:]
	return num, append([]southbound.Event(nil), rest[:min(n, len(rest))]...), nil
}

// ack forgets events up to and including number through.
func (l *eventLog) ack(through uint64) error {
	if through >= l.next() {
		return fmt.Errorf("acknowledge event %d: %d is the next: %w", through, l.next(), southbound.ErrRefused)
	}
	if through < l.first {
		return nil
	}
	n := through - l.first + 1
	l.kept = append([]southbound.Event(nil), l.kept[n:]...)
	l.first += n
	return nil
}
