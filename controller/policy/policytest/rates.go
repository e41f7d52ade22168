package policytest

import (
	"errors"
	"fmt"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// checkShare adds up what the plan lets every live host flow send, link by link. Rates left to the
// hosts are not a plan's.
func checkShare(v *controller.View, p *controller.Plan) error {
	if p.Share == nil {
		return nil
	}
	if p.Share.Fair {
		return checkFair(p.Share)
	}
	rate := map[southbound.PairRate]pathmap.BitsPerSecond{}
	for _, r := range p.Share.Pairs {
		key := southbound.PairRate{Src: r.Src, Dst: r.Dst, Tag: r.Tag}
		if _, twice := rate[key]; twice || r.Rate < 0 {
			return fmt.Errorf("share: class %+v twice or below zero", r)
		}
		rate[key] = r.Rate
	}
	until := map[southbound.CoflowID]southbound.Pace{}
	for _, c := range p.Share.Pace {
		until[c.Coflow] = c
	}
	spread := map[southbound.CoflowID]southbound.Spread{}
	for _, s := range p.Share.Spreads() {
		if _, twice := until[s.Coflow]; twice {
			return fmt.Errorf("share: coflow %d has a pace and a spread", s.Coflow)
		}
		spread[s.Coflow] = s
	}
	extra, err := extras(p.Share)
	if err != nil {
		return err
	}
	sum := make([]float64, len(v.Fabric.Topology.Links()))
	for i := range v.Coflows {
		c := &v.Coflows[i]
		for r := range c.Src {
			tag, links := hostFlow(v, p, c, r)
			if links == nil {
				continue
			}
			x := float64(rate[southbound.PairRate{Src: c.Src[r], Dst: c.Dst[r], Tag: tag}])
			if pace, ok := until[c.ID]; ok && pace.Until > v.Now && tag != southbound.TagCircuit {
				x = c.Remaining.Row(int32(r)) * onWire(v) * 8e9 / float64(pace.Until-v.Now)
			}
			if tag != southbound.TagCircuit {
				x += spreadTo(spread[c.ID], c.Src[r], c.Dst[r])
				x += float64(extra[southbound.HostFlowKey{Coflow: c.ID, Row: int32(r)}])
			}
			for _, l := range links {
				sum[l] += x
			}
		}
	}
	for l, x := range sum {
		// A sum of as many terms is not exact to the last place.
		if c := v.Room(pathmap.LinkID(l)); x > float64(c)*(1+1e-9) {
			return fmt.Errorf("share: link %d of %v is given %.0f bps", l, c, x)
		}
	}
	return nil
}

// checkFair checks that hosts which share by themselves are told priorities at most.
func checkFair(s *southbound.Rates) error {
	if err := s.CheckPriorities(); err != nil {
		return fmt.Errorf("share: %w", err)
	}
	if len(s.Pace)+len(s.Spreads())+len(s.Extra)+len(s.Pairs) > 0 {
		return errors.New("share: fair, and rates too")
	}
	return nil
}

// hostFlow returns the tag with which a row sends now and the links it takes; nil if it sends nothing.
func hostFlow(v *controller.View, p *controller.Plan, c *controller.CoflowView, r int) (southbound.Tag,
	[]pathmap.LinkID) {
	tag := c.Tag[r]
	for _, route := range p.Route {
		if route.Coflow == c.ID {
			tag = route.Tags[r]
		}
	}
	if !c.Started || c.Ended[r] || tag == southbound.TagHold {
		return tag, nil
	}
	t, s, d := v.Fabric.Topology, v.HostRack(c.Src[r]), v.HostRack(c.Dst[r])
	links := []pathmap.LinkID{t.Out(v.Fabric.HostNode[c.Src[r]])[0],
		pathmap.Reverse(t.Out(v.Fabric.HostNode[c.Dst[r]])[0])}
	if s == d {
		return tag, links
	}
	for in, out := int(s), int(d); in < len(v.Circuits); in, out = in+v.Fabric.Racks, out+v.Fabric.Racks {
		at := v.Circuits[in]
		if at.Phase == controller.InService && at.Held && at.Out == southbound.Port(out) &&
			(at.Coflow == c.ID || at.Coflow == controller.AnyCoflow) {
			return southbound.TagCircuit, append(links, t.OutPort(v.Fabric.ToRNode[s], v.Fabric.OCSUplink[in]),
				pathmap.Reverse(t.OutPort(v.Fabric.ToRNode[d], v.Fabric.OCSUplink[out])))
		}
	}
	for _, res := range v.Reserved {
		if res.Fallback == controller.Hold && (res.Coflow == c.ID || res.Coflow == controller.AnyCoflow) &&
			v.Fabric.OCSRack(int32(res.In)) == int32(s) && v.Fabric.OCSRack(int32(res.Out)) == int32(d) {
			return southbound.TagHold, nil
		}
	}
	path, _ := tag.Path()
	return tag, v.Paths.AppendPath(links, int(s), int(d), path)
}

// extras returns the extras of rates by host flow.
func extras(r *southbound.Rates) (map[southbound.HostFlowKey]pathmap.BitsPerSecond, error) {
	all := map[southbound.HostFlowKey]pathmap.BitsPerSecond{}
	for i, x := range r.Extra {
		if i > 0 {
			last := r.Extra[i-1].HostFlowKey
			if last.Coflow > x.Coflow || last.Coflow == x.Coflow && last.Row >= x.Row {
				return nil, fmt.Errorf("share: extra of %+v after %+v", x.HostFlowKey, last)
			}
		}
		if x.Rate <= 0 {
			return nil, fmt.Errorf("share: extra of %+v is %d", x.HostFlowKey, x.Rate)
		}
		all[x.HostFlowKey] = x.Rate
	}
	return all, nil
}

// spreadTo returns what a spread gives a host flow between two hosts.
func spreadTo(s southbound.Spread, src, dst southbound.HostID) float64 {
	of := func(rates []southbound.HostRate, h southbound.HostID) pathmap.BitsPerSecond {
		for _, r := range rates {
			if r.Host == h {
				return r.Rate
			}
		}
		return 0
	}
	return float64(min(of(s.From, src), of(s.To, dst)))
}

// onWire returns the layer-2 bytes that carry a byte of payload: on a crossbar headers are not charged.
func onWire(v *controller.View) float64 {
	if v.Fabric.Spec.Kind == topo.Crossbar {
		return 1
	}
	return float64(controller.FrameBytes) / controller.FramePayload
}
