package feed

import (
	"fmt"
	"strings"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// eventBits are the bits of an event's number that count within one entry of the log; those above count
// the entries.
const eventBits = 20

// eventCount numbers events: the same on each replica.
type eventCount struct{ entry, last uint64 }

func (c *eventCount) next(entry uint64) uint64 {
	if c.entry != entry {
		*c = eventCount{entry, entry << eventBits}
	}
	c.last++
	return c.last
}

// publishEvent publishes what an entry means for people.
func (f *Feed) publishEvent(e *state.Entry) {
	if kind, subject, text := f.event(e); kind != "" {
		f.Hub.Publish(api.Event{Seq: f.events.next(f.cfg.State.Live().Applied + 1), At: e.At,
			Kind: kind, Subject: subject,
			Text: text})
	}
}

// event returns what an entry means; no kind: nothing that people want to know.
func (f *Feed) event(e *state.Entry) (kind, subject, text string) {
	switch e.Kind {
	case state.CircuitSettled:
		if kind = "circuit-in-service"; !e.OK {
			kind = "circuit-failed"
		}
		return kind, circuit(e), ""
	case state.CircuitDropped:
		return "circuit-dropped", circuit(e), ""
	case state.PortSeen:
		if kind = "port-dark"; e.OK {
			kind = "port-lit"
		}
		return kind, fmt.Sprintf("port %s:%d", f.cfg.State.Fabric().Topology.Node(e.Device).Name, e.Port), ""
	case state.HostSeen:
		if kind = "host-lost"; e.OK {
			kind = "host-back"
		}
		return kind, "host " + f.hosts([]southbound.HostID{e.Host}, 1)[0], ""
	case state.BandwidthReserved:
		return "bandwidth-reserved", fmt.Sprint("reservation ", f.cfg.State.Live().LastBandwidthReservation),
			fmt.Sprintf("%v for %q", e.BandwidthReservation.Rate, e.BandwidthReservation.Owner)
	case state.BandwidthReleased:
		return "bandwidth-released", fmt.Sprint("reservation ", e.BandwidthReservationID), ""
	case state.FabricChanged:
		c := e.Cluster.Fabric
		return "fabric-changed", fmt.Sprint("generation ", c.Generation), f.fabric(c)
	case state.LevelRaised:
		return "level-raised", "cluster", fmt.Sprint("to ", e.Cluster.Level)
	}
	return f.jobEvent(e)
}

func circuit(e *state.Entry) string { return fmt.Sprintf("circuit %d→%d", e.Port, e.Out) }

// jobEvent is event of an entry about a job.
func (f *Feed) jobEvent(e *state.Entry) (kind, subject, text string) {
	j := f.of(e)
	if j == nil {
		return "", "", ""
	}
	subject = fmt.Sprint("job ", j.ID)
	switch {
	case e.Kind == state.JobAccepted:
		return "job-submitted", subject, j.Name
	case e.Kind == state.Placed && len(j.Hosts) > 0:
		return "job-placed", subject, fmt.Sprintf("%s: %d tasks", j.Name, len(j.Hosts))
	case e.Kind == state.JobCancelled && e.OK:
		return "job-expired", subject, j.Name
	case e.Kind == state.JobCancelled:
		return "job-cancelled", subject, j.Name
	case j.Ended != state.Unset:
		return "job-ended", subject, fmt.Sprintf("%s after %.3f s", j.Name, (j.Ended - j.Arrival).Seconds())
	}
	return "", "", ""
}

// fabric tells how the fabric is now.
func (f *Feed) fabric(c *controller.FabricChange) string {
	var out []string
	if c.Policy != "" {
		out = append(out, "policy "+c.Policy)
	}
	for _, n := range c.Drained {
		out = append(out, "drained "+f.cfg.State.Fabric().Topology.Node(n).Name)
	}
	for _, d := range c.Devices {
		out = append(out, "replaced "+f.cfg.State.Fabric().Topology.Node(d.Node).Name)
	}
	for _, n := range c.Removed {
		out = append(out, "removed "+f.cfg.State.Fabric().Topology.Node(n).Name)
	}
	if n := len(c.Cabling.Unplugged); n > 0 {
		out = append(out, fmt.Sprintf("%d cables unplugged", n))
	}
	if n := len(c.Cabling.Plugged); n > 0 {
		out = append(out, fmt.Sprintf("%d plugged in", n))
	}
	for _, p := range c.Barred {
		out = append(out, "barred "+p)
	}
	if c.Failure != "" {
		out = append(out, "since "+c.Failure)
	}
	return strings.Join(out, ", ")
}
