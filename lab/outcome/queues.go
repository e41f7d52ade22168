package outcome

import (
	"fmt"

	"lightloom/lab/report"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Depth returns the fullest queue of a switch on real packets, the first among equals; nil if queues
// were not sampled.
func (o *Outcome) Depth() *report.QueueDepth {
	if o.QueueDepth != nil {
		return o.QueueDepth
	}
	if o.Net.Dataplane == "" || len(o.Queues) == 0 {
		return nil
	}
	f, err := topo.New(o.Row.Spec)
	if err != nil || len(f.Topology.Links()) != len(o.Queues) {
		return nil // of another fabric than the row's: nothing can be said of it
	}
	t := f.Topology
	d := &report.QueueDepth{}
	for l, q := range o.Queues {
		link := t.Link(pathmap.LinkID(l))
		if t.Node(link.From).Role == pathmap.Host || d.Port != "" && q.Max <= d.Most {
			continue
		}
		d.Most, d.Mean = q.Max, q.Mean
		d.Port = fmt.Sprintf("%s:%d to %s", t.Node(link.From).Name, link.FromPort, t.Node(link.To).Name)
	}
	return d
}

// PortLoad is the load of one link, that is of the port that sends into it.
type PortLoad struct {
	Bytes pathmap.Bytes `json:"bytes"` // layer 2
	Drops int64         `json:"drops"`
	Acks  pathmap.Bytes `json:"acks,omitempty"` // of these bytes, those of the highest priority; 0 on the simulator
	Max   float64       `json:"max"`            // bytes waiting
	Mean  float64       `json:"mean"`           // over the run's time
}
