package testbed

import (
	"time"

	"lightloom/lab/report"
	"lightloom/pathmap"
)

// Carrier is a testbed that can read the counters of its links.
type Carrier interface {
	// Carried returns the bytes of layer 2 that have passed each link so far, by LinkID. It need not know
	// those of hosts' links.
	Carried() ([]pathmap.Bytes, error)
	// Apart is the least time between two readings that does not disturb the run.
	Apart() time.Duration
}

const (
	// mostReadings bounds the readings that are kept: with more, every second one goes.
	mostReadings = 256
	// mostCells bounds the figures of all of them together, so that of large fabrics fewer readings are kept.
	mostCells = 1 << 20
)

// linkLog keeps what passes the packet links between switches, evenly over a run of any length.
type linkLog struct {
	of    Carrier
	ids   []pathmap.LinkID
	every time.Duration
	next  time.Duration
	loads report.LinkLoads
}

// newLinkLog begins the log of a run; nil where the testbed reads no counters.
func newLinkLog(tb Testbed, every time.Duration) *linkLog {
	of, ok := tb.(Carrier)
	if !ok {
		return nil
	}
	l := &linkLog{of: of, every: max(every, of.Apart())}
	t := tb.Fabric().Topology
	for id, link := range t.Links() {
		from, to := t.Node(link.From), t.Node(link.To)
		if forwards(from.Role) && forwards(to.Role) {
			l.ids = append(l.ids, pathmap.LinkID(id))
			l.loads.Links = append(l.loads.Links, report.LoadedLink{From: from.Name, To: to.Name,
				Capacity: link.Capacity})
		}
	}
	return l
}

// forwards reports whether nodes of a role forward packets.
func forwards(r pathmap.Role) bool { return r == pathmap.ToR || r == pathmap.Switch }

// due reads the counters if it is time to.
func (l *linkLog) due(now time.Duration) error {
	if l == nil || now < l.next {
		return nil
	}
	return l.read(now)
}

// read adds a reading. One at the instant of the last takes its place.
func (l *linkLog) read(now time.Duration) error {
	if l == nil || len(l.ids) == 0 {
		return nil
	}
	all, err := l.of.Carried()
	if err != nil {
		return err
	}
	row := make([]pathmap.Bytes, len(l.ids))
	for i, id := range l.ids {
		row[i] = all[id]
	}
	x := &l.loads
	if n := len(x.At); n > 0 && x.At[n-1] == now {
		x.At, x.Bytes = x.At[:n-1], x.Bytes[:n-1]
	}
	x.At, x.Bytes = append(x.At, now), append(x.Bytes, row)
	l.next = now + l.every
	if len(x.At) > 2 && (len(x.At) > mostReadings || len(x.At)*len(l.ids) > mostCells) {
		l.thin()
	}
	return nil
}

// thin forgets every second reading, but the first and the last.
func (l *linkLog) thin() {
	x, kept := &l.loads, 0
	for i := range x.At {
		if i%2 == 0 || i == len(x.At)-1 {
			x.At[kept], x.Bytes[kept] = x.At[i], x.Bytes[i]
			kept++
		}
	}
	clear(x.Bytes[kept:])
	x.At, x.Bytes = x.At[:kept], x.Bytes[:kept]
	l.every *= 2
}
