package gnmi

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// Polatis is the profile of Polatis optical switches: input i is port i+1, output o is port Ports+o+1.
// The switch has no states in between: a pair that is listed is connected.
type Polatis struct{ Ports int32 }

var _ Profile = Polatis{}

func crossConnects() schema.Path { return schema.Path(nil).With("cross-connects") }

// PairPath is where the pair of an input is listed, and PairLeaves are what it holds.
func (p Polatis) PairPath(in southbound.Port) schema.Path {
	return crossConnects().Entry("pair", "ingress", strconv.Itoa(int(in)+1))
}

// PairLeaves are what a pair holds.
func (p Polatis) PairLeaves(in, out southbound.Port) []schema.Leaf {
	at := p.PairPath(in)
	return []schema.Leaf{{Path: at.With("ingress"), Value: uint64(in) + 1},
		{Path: at.With("egress"), Value: uint64(p.Ports) + uint64(out) + 1}}
}

// Name implements Profile.
func (Polatis) Name() string { return "polatis" }

// Model implements Profile.
func (Polatis) Model() *schema.Model { return schema.Polatis() }

// Check implements Profile.
func (Polatis) Check(c *gpb.CapabilityResponse) error { return hasModel(c, schema.PolatisModule, "") }

// ConfigPaths implements Profile.
func (Polatis) ConfigPaths() []schema.Path {
	return []schema.Path{crossConnects().Entry("pair", "ingress", schema.Any)}
}

// StatePaths implements Profile.
func (p Polatis) StatePaths() []schema.Path { return p.ConfigPaths() }

// WatchPaths implements Profile.
func (p Polatis) WatchPaths() []schema.Path { return p.ConfigPaths() }

// pairOf reads the egress of a pair; false for any other leaf and for ports that the switch does not have.
func (p Polatis) pairOf(l schema.Leaf) (pair, bool) {
	if len(l.Path) != 3 || l.Path[1].Name != "pair" || l.Path[2].Name != "egress" {
		return pair{}, false
	}
	in, err := strconv.ParseUint(l.Path[1].Key("ingress"), 10, 16)
	out, ok := l.Value.(uint64)
	h := pair{southbound.Port(in) - 1, southbound.Port(out) - 1 - southbound.Port(p.Ports)}
	return h, err == nil && ok && h.in >= 0 && int32(h.in) < p.Ports && h.out >= 0 && int32(h.out) < p.Ports
}

func (p Polatis) pairs(leaves []schema.Leaf) map[string]pair {
	out := map[string]pair{}
	for _, l := range leaves {
		if h, ok := p.pairOf(l); ok {
			out[ConnectionName(h.in, h.out)] = h
		}
	}
	return out
}

type pairWriter struct {
	p            Polatis
	model        *schema.Model
	have, wanted map[string]pair
}

// NewWriter implements Profile.
func (p Polatis) NewWriter(config []schema.Leaf) Writer {
	have := p.pairs(config)
	return &pairWriter{p: p, model: p.Model(), have: have, wanted: have}
}

// Accepted implements Writer.
func (w *pairWriter) Accepted() { w.have = w.wanted }

// circuits implements circuitKnower.
func (w *pairWriter) circuits() map[string]pair { return w.have }

// Encode implements Writer.
func (w *pairWriter) Encode(c *southbound.Change) (*gpb.SetRequest, error) {
	req := &gpb.SetRequest{}
	w.wanted = w.have
	if c.Empty() {
		return req, nil
	}
	if err := checkCircuits(c, w.p.Ports); err != nil {
		return nil, err
	}
	kept, gone := retain(w.have, c)
	for _, name := range gone {
		req.Delete = append(req.Delete, w.model.Proto(w.p.PairPath(w.have[name].in)))
	}
	w.wanted = kept
	for _, x := range sortedConnects(c.Connect) {
		if x.Off {
			continue
		}
		w.wanted[ConnectionName(x.In, x.Out)] = pair{x.In, x.Out}
		at := w.p.PairPath(x.In)
		u, err := entry(w.model, at, w.p.PairLeaves(x.In, x.Out))
		if err != nil {
			return nil, err
		}
		req.Update = append(req.Update, u)
	}
	return req, nil
}

// Seen implements Profile.
func (p Polatis) Seen(state []schema.Leaf) (southbound.Seen, error) {
	var seen southbound.Seen
	for _, h := range p.pairs(state) {
		seen.Connections = append(seen.Connections,
			southbound.Connection{In: h.in, Out: h.out, Status: southbound.Connected})
	}
	slices.SortFunc(seen.Connections, func(a, b southbound.Connection) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out))
	})
	return seen, nil
}

type pairDecoder struct {
	p     Polatis
	stand map[southbound.Port]southbound.Port
}

// NewDecoder implements Profile.
func (p Polatis) NewDecoder() Decoder {
	return &pairDecoder{p: p, stand: map[southbound.Port]southbound.Port{}}
}

// Decode implements Decoder.
func (d *pairDecoder) Decode(gone []schema.Path, leaves []schema.Leaf) ([]southbound.DeviceEvent, error) {
	var out []southbound.DeviceEvent
	tell := func(in, o southbound.Port, s southbound.Status) {
		out = append(out, southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: in, Out: o, Status: s})
	}
	for in := range southbound.Port(d.p.Ports) {
		o, stands := d.stand[in]
		path := d.p.PairPath(in).With("egress")
		if stands && slices.ContainsFunc(gone, func(g schema.Path) bool { return g.Match(path) }) {
			delete(d.stand, in)
			tell(in, o, southbound.Disconnected)
		}
	}
	for _, l := range leaves {
		h, ok := d.p.pairOf(l)
		if !ok && len(l.Path) > 0 && l.Path[len(l.Path)-1].Name == "egress" {
			return nil, fmt.Errorf("read %q: it leads to %v, and here inputs are 1 to %d and outputs %d to %d: has the device "+
				"renumbered its ports?",
				l.Path.String(), l.Value, d.p.Ports, d.p.Ports+1, 2*d.p.Ports)
		}
		old, stands := d.stand[h.in]
		if !ok || stands && old == h.out {
			continue
		}
		if stands {
			tell(h.in, old, southbound.Disconnected)
		}
		d.stand[h.in] = h.out
		tell(h.in, h.out, southbound.Connected)
	}
	return out, nil
}
