package flowsim

import (
	"cmp"
	"math/bits"
	"slices"

	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Counters are what went over the fabric so far. Bytes are whole: the sum over the links of any cut is
// the sum of the host flows that crossed it, once those have ended.
type Counters struct {
	Payload   []pathmap.Bytes // by link
	Wire      []pathmap.Bytes // by link, layer 2
	OCS       pathmap.Bytes   // payload on links from ToRs to the OCS
	EPS       pathmap.Bytes   // payload on links from ToRs to other packet switches
	RackLocal pathmap.Bytes   // payload between hosts of one rack, which leaves no ToR upwards
	Delivered pathmap.Bytes   // payload that hosts have received

	Ends    int64  // host flows that ended
	Stalls  int64  // times that a host flow met a dark or unmatched port, and stood still
	Dropped uint64 // packets that the devices' planes count as dropped: a fluid has none, so stalls stand for them
	Solves  int64  // times that rates were shared by water-filling

	Lit        []device.LitInterval // the OCSes' own logs of light
	LitDropped uint64               // intervals that the logs no longer hold
}

// Counters returns what went over the fabric until Now.
func (s *Sim) Counters() Counters {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fluid.postAll()
	f := s.fluid
	c := Counters{Payload: slices.Clone(f.payload), Wire: s.wire(),
		RackLocal: f.local, Ends: f.ends, Stalls: f.stalls, Solves: f.solves}
	for l, n := range f.payload {
		link := s.fabric.Topology.Link(pathmap.LinkID(l))
		from, to := s.fabric.Topology.Node(link.From).Role, s.fabric.Topology.Node(link.To).Role
		switch {
		case to == pathmap.Host:
			c.Delivered += n
		case from == pathmap.ToR && to == pathmap.OCS:
			c.OCS += n
		case from == pathmap.ToR:
			c.EPS += n
		}
	}
	for i := range f.routes {
		if r := &f.routes[i]; s.sameRack(&r.pair) {
			c.RackLocal += r.posted
		}
	}
	for _, id := range s.devices {
		if n, err := s.switches[id].plane.Dropped(); err == nil {
			c.Dropped += n
		}
	}
	s.addLit(&c)
	return c
}

// Carried returns Counters.Wire.
func (s *Sim) Carried() []pathmap.Bytes {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fluid.postAll()
	return s.wire()
}

// wire returns what has passed each link, as far as it is posted.
func (s *Sim) wire() []pathmap.Bytes {
	out := make([]pathmap.Bytes, len(s.fluid.payload))
	for l, n := range s.fluid.payload {
		out[l] = s.onWire(n)
	}
	return out
}

// addLit adds the logs of light of all OCSes, by when each interval began.
func (s *Sim) addLit(c *Counters) {
	for i := range s.fabric.OCSes() {
		id := s.fabric.OCSNode + pathmap.NodeID(i)
		ocs := s.switches[id].dev
		log := ocs.Log()
		for k := range log {
			log[k] = s.inFabric(id, log[k])
		}
		c.LitDropped += ocs.LogDropped()
		if i == 0 {
			c.Lit = log
			continue
		}
		c.Lit = append(c.Lit, log...)
	}
	if s.fabric.OCSes() > 1 {
		slices.SortStableFunc(c.Lit, func(a, b device.LitInterval) int { return cmp.Compare(a.From, b.From) })
	}
}

func (s *Sim) sameRack(p *pair) bool {
	return s.fabric.RackOf(int32(p.src)) == s.fabric.RackOf(int32(p.dst))
}

// onWire returns the layer-2 bytes that carry n bytes of payload, rounded up.
func (s *Sim) onWire(n pathmap.Bytes) pathmap.Bytes {
	if s.opt.NoHeaders {
		return n
	}
	hi, lo := bits.Mul64(uint64(n), FrameBytes)
	lo, carry := bits.Add64(lo, FramePayload-1, 0)
	q, _ := bits.Div64(hi+carry, lo, FramePayload)
	return pathmap.Bytes(q)
}

// Into returns the payload bytes that have gone into an input of the optical switch until Now, whatever
// circuit it had. It takes time by the host flows that are under way there.
func (s *Sim) Into(input southbound.Port) pathmap.Bytes {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.linkBy(s.fabric.ToRNode[s.fabric.OCSRack(int32(input))], southbound.Port(s.fabric.OCSUplink[input]))
	if l == pathmap.None {
		return 0
	}
	ocs, port := s.fabric.OCSAt(int32(input))
	s.fluid.postOver(s.circuitOf(ocs, southbound.Port(port)))
	return s.fluid.payload[l]
}

// Waiting writes into by, which has an entry for each link, the payload bytes that started host flows
// have still to send over it: a fluid's substitute for queues. A host flow counts at every link of its
// path, and at its host's link if it has no path now. It takes time in proportion to the host flows
// under way.
func (s *Sim) Waiting(by []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(by)
	f := s.fluid
	for _, i := range f.live {
		co := &f.coflows[i]
		for b := co.first; b < co.end; b++ {
			left := f.leftOf(b)
			if left <= 0 {
				continue
			}
			r := &f.routes[f.hostFlows[b].route]
			for _, l := range r.links() {
				by[l] += left
			}
			if len(r.links()) == 0 {
				at, port := s.fabric.HostNode[r.pair.src], southbound.Port(0)
				if r.hop == lastHop { // a rack keeps it
					rack := s.fabric.RackOf(int32(r.pair.src))
					at, port = s.fabric.ToRNode[rack], southbound.Port(s.fabric.OCSUplink[rack])
				}
				if l := s.linkBy(at, port); l != pathmap.None {
					by[l] += left
				}
			}
		}
	}
}
