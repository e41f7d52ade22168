package joint

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// gauge is the payload for which a link's load per byte is computed.
const gauge = pathmap.Bytes(controller.FramePayload * 1000)

// newOptics returns the optical switch as the annealer is to see it; nil where there is none, and where nothing else
// leads from rack to rack, so that there is nothing to decide.
//
// A new circuit waits for as long as the busier of its two ports is reserved, begun or not.
func newOptics(v *controller.View) *anneal.Optics {
	if !v.Fabric.HasOCS() || controller.CircuitsOnly(v.Fabric) {
		return nil
	}
	n := v.Fabric.Racks
	o := &anneal.Optics{Delta: v.Delta, Wire: float64(v.Wire(gauge)) / float64(gauge), Up: make([]int64, n),
		Down: make([]int64, n),
		Wait: make([]time.Duration, n*n), Lit: make([]bool, n*n)}
	for r := range n {
		o.Up[r], o.Down[r] = opticalPort(v, r)
	}
	in, out := make([]time.Duration, n), make([]time.Duration, n)
	for _, r := range v.Reserved {
		if long := r.NotAfter - max(r.NotBefore, v.Now); long > 0 && int(r.In) < n && int(r.Out) < n {
			in[r.In] += long
			out[r.Out] += long
		}
	}
	for s := range n {
		for d := range n {
			o.Wait[s*n+d] = max(in[s], out[d])
		}
	}
	for s, c := range v.Circuits {
		if s < n && c.Phase == controller.InService && c.Out != southbound.NoPort && int(c.Out) < n {
			o.Lit[s*n+int(c.Out)] = true
		}
	}
	return o
}

// opticalPort returns the rates of a rack's port into the switch and out of it; zero without a port, or without light.
func opticalPort(v *controller.View, rack int) (up, down int64) {
	if rack >= len(v.Fabric.OCSUplink) || v.Fabric.OCSUplink[rack] < 0 {
		return 0, 0
	}
	into, from := route.CircuitLinks(v, southbound.RackID(rack), southbound.RackID(rack))
	if into == pathmap.None || v.Down != nil && (v.Down[into] || v.Down[from]) {
		return 0, 0
	}
	t := v.Fabric.Topology
	return int64(t.Link(into).Capacity), int64(t.Link(from).Capacity)
}
