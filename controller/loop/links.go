package loop

import (
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// DeviceCounts are the newest counters of a device's ports, each port once.
type DeviceCounts struct {
	Device southbound.DeviceID
	Ports  []southbound.PortCounters
	// Anew means that the stream has restarted or ended: what was known of the device's ports is no longer
	// valid.
	Anew bool
}

// meters are what devices count, made into rates of links. They are never logged: a new leadership
// knows them again after two samples.
type meters struct {
	topology *pathmap.Topology
	raters   map[southbound.DeviceID][]southbound.Rater // by port
	links    []controller.LinkRate                      // by link; nil before the first sample
}

// Links returns the link rates for the next view, by id; nil if switches do not count. It is borrowed
// until the next Step.
func (l *Loop) Links() []controller.LinkRate { return l.decider.meters.links }

// add takes a switch's counts. It ignores ports that the switch does not have.
func (m *meters) add(now time.Duration, c *DeviceCounts) {
	if c.Device < 0 || int(c.Device) >= len(m.topology.Nodes()) ||
		m.topology.Node(c.Device).Role == pathmap.Host {
		return
	}
	if m.links == nil {
		m.links = make([]controller.LinkRate, len(m.topology.Links()))
		m.raters = map[southbound.DeviceID][]southbound.Rater{}
	}
	raters := m.raters[c.Device]
	if c.Anew || raters == nil {
		raters = make([]southbound.Rater, m.topology.Ports(c.Device))
		m.raters[c.Device] = raters
		for _, out := range m.topology.Out(c.Device) {
			m.put(now, out, southbound.PortRate{})
		}
	}
	for _, p := range c.Ports {
		out := pathmap.LinkID(pathmap.None)
		if p.Port >= 0 && int(p.Port) < len(raters) {
			out = m.topology.OutPort(c.Device, int32(p.Port))
		}
		if out != pathmap.None {
			m.put(now, out, raters[p.Port].Add(p))
		}
	}
}

// put notes the rate of a port for the link that leaves it. If a host, which does not count, is at the
// other end, put also sets the link that enters the port, without the drops of the host itself.
func (m *meters) put(now time.Duration, out pathmap.LinkID, r southbound.PortRate) {
	if r.Span == 0 {
		now = 0
	}
	m.links[out] = controller.LinkRate{Rate: r.Out, Drops: r.Drops, Span: r.Span, At: now}
	if m.topology.Node(m.topology.Link(out).To).Role == pathmap.Host {
		m.links[pathmap.Reverse(out)] = controller.LinkRate{Rate: r.In, Span: r.Span, At: now}
	}
}
