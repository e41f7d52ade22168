package hostagent

import (
	"time"

	"lightloom/southbound"
)

// hostFlow is one row of a coflow. The agent's lock guards it.
type hostFlow struct {
	key      southbound.HostFlowKey
	src, dst southbound.HostID
	tag      southbound.Tag
	cap      float64 // payload bytes a second that its source makes; 0: no bound
	size     int64
	left     int64   // payload not yet acknowledged, as last read
	moved    uint64  // the reading at which left last changed
	line     float64 // payload bytes a second of its path by lineTag; 0: not known
	lineTag  southbound.Tag
	circuit  bool // lineTag takes it to a circuit
	granted  grant
	passed   want      // the last order to the sender
	out      *sender   // while it sends, if its source is here
	in       *receiver // once a connection came, if its destination is here
	toSend   bool      // its source is here and does not know yet that all has been received
	toTake   bool      // its destination is here and misses bytes
	void     bool      // one of its hosts has failed
}

// coflow is a started coflow with host flows that are not over.
type coflow struct {
	id    southbound.CoflowID
	rows  []hostFlow
	busy  int    // rows that are toSend or toTake
	takes int    // rows that are toTake
	moved uint64 // largest of the rows'
}

// table holds the coflows. Ended ones keep no rows: only that they have been.
type table struct {
	live   map[southbound.CoflowID]*coflow
	order  []*coflow                     // live ones in the order of their start
	ended  map[southbound.CoflowID]int32 // rows
	recent []endedCoflow                 // in the order of their end

	reading uint64 // counts readings of backlogs, and changes that they do not show
	readAt  time.Duration
}

type endedCoflow struct {
	id   southbound.CoflowID
	rows int32
}

func newTable() table {
	return table{live: map[southbound.CoflowID]*coflow{}, ended: map[southbound.CoflowID]int32{}, reading: 1}
}

// known reports whether a coflow has been started.
func (t *table) known(id southbound.CoflowID) (known, ended bool) {
	if t.live[id] != nil {
		return true, false
	}
	_, ended = t.ended[id]
	return ended, ended
}

// start adds a coflow. local selects the hosts that are here.
func (t *table) start(s *southbound.Start, local func(southbound.HostID) bool) *coflow {
	c := &coflow{id: s.Coflow, rows: make([]hostFlow, len(s.Src)), moved: t.reading}
	for i := range c.rows {
		b := &c.rows[i]
		*b = hostFlow{key: southbound.HostFlowKey{Coflow: s.Coflow, Row: int32(i)}, src: s.Src[i], dst: s.Dst[i],
			tag:     s.Tag[i],
			lineTag: southbound.TagHold, size: int64(s.Size[i]), left: int64(s.Size[i]), moved: t.reading,
			toSend: local(s.Src[i]), toTake: local(s.Dst[i])}
		if s.Cap != nil {
			b.cap = payload(s.Cap[i])
		}
		if b.toTake {
			c.takes++
		}
		if b.toSend || b.toTake {
			c.busy++
		}
	}
	t.live[c.id] = c
	t.order = append(t.order, c)
	return c
}

// row finds a live host flow.
func (t *table) row(k southbound.HostFlowKey) *hostFlow {
	c := t.live[k.Coflow]
	if c == nil || k.Row < 0 || int(k.Row) >= len(c.rows) {
		return nil
	}
	return &c.rows[k.Row]
}

// sent records that a host flow's source has the acknowledgement of the last byte; taken that its
// destination has the byte.
func (t *table) sent(b *hostFlow)  { t.finish(b, &b.toSend) }
func (t *table) taken(b *hostFlow) { t.live[b.key.Coflow].takes--; t.finish(b, &b.toTake) }

// void records that a host flow will neither be sent nor taken.
func (t *table) void(b *hostFlow) {
	if b.toTake {
		t.live[b.key.Coflow].takes--
	}
	b.toTake = false
	t.finish(b, &b.toSend)
}

func (t *table) finish(b *hostFlow, role *bool) {
	*role = false
	if b.toSend || b.toTake {
		return
	}
	c := t.live[b.key.Coflow]
	if c.busy--; c.busy == 0 {
		t.end(c)
	}
}

// end forgets a coflow's rows.
func (t *table) end(c *coflow) {
	delete(t.live, c.id)
	for i, o := range t.order {
		if o == c {
			t.order = append(t.order[:i], t.order[i+1:]...)
			break
		}
	}
	t.ended[c.id] = int32(len(c.rows))
	t.recent = append(t.recent, endedCoflow{id: c.id, rows: int32(len(c.rows))})
}

// move notes what a host flow has left.
func (t *table) move(c *coflow, b *hostFlow, left int64) {
	if left != b.left {
		b.left, b.moved, c.moved = left, t.reading, t.reading
	}
}

// leftOf copies what a coflow has left.
func (t *table) leftOf(id southbound.CoflowID, at time.Duration) (southbound.Remaining, bool) {
	if rows, ended := t.ended[id]; ended {
		return southbound.Remaining{F: 1, Base: make([]float64, rows), At: at}, true
	}
	c := t.live[id]
	if c == nil {
		return southbound.Remaining{}, false
	}
	l := southbound.Remaining{F: 1, Base: make([]float64, len(c.rows)), At: at}
	for i := range c.rows {
		l.Base[i] = float64(c.rows[i].left)
	}
	return l, true
}
