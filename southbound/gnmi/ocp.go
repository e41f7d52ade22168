package gnmi

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// OCP is the profile of optical circuit switches that speak the Open Compute model. Inputs are ports
// "in0", "in1", …, outputs "out0", "out1", …; a circuit is the port-connection "in3-out7". The model
// never disturbs a connection that a request does not delete, so the profile deletes what a new circuit
// displaces, and for that it reads the device's configuration before it writes.
type OCP struct {
	Ports int32 // inputs, and as many outputs
}

var _ Profile = OCP{}

// InputName is the name of an optical switch's input; InputNamed is its inverse.
func InputName(p southbound.Port) string { return fmt.Sprintf("in%d", p) }

// OutputName is the name of an optical switch's output; OutputNamed is its inverse.
func OutputName(p southbound.Port) string { return fmt.Sprintf("out%d", p) }

// InputNamed returns the input of that name.
func InputNamed(name string) (southbound.Port, bool) { return portSuffix(name, "in") }

// OutputNamed returns the output of that name.
func OutputNamed(name string) (southbound.Port, bool) { return portSuffix(name, "out") }

// ConnectionName is the name that the profile chooses for a circuit.
func ConnectionName(in, out southbound.Port) string { return InputName(in) + "-" + OutputName(out) }

// ConnectionNamed is the inverse of ConnectionName.
func ConnectionNamed(name string) (in, out southbound.Port, ok bool) {
	a, b, _ := strings.Cut(name, "-")
	in, iok := InputNamed(a)
	out, ook := OutputNamed(b)
	return in, out, iok && ook
}

// ConnectionPath is the path of a port-connection.
func ConnectionPath(name string) schema.Path {
	return schema.Path{{Name: "connections"}}.Entry("port-connection", "name", name)
}

// ConnectionLeaves are the configuration of a port-connection.
func ConnectionLeaves(name string, in, out southbound.Port) []schema.Leaf {
	at := ConnectionPath(name).With("config")
	return []schema.Leaf{
		{Path: at.With("name"), Value: name},
		{Path: at.With("input-port-name"), Value: InputName(in)},
		{Path: at.With("output-port-name"), Value: OutputName(out)},
	}
}

// Name implements Profile.
func (OCP) Name() string { return "ocp" }

// Model implements Profile.
func (OCP) Model() *schema.Model { return schema.OCP() }

// Check implements Profile: the model is a strawman, so its version must be exactly this one.
func (OCP) Check(c *gpb.CapabilityResponse) error {
	err := hasModel(c, schema.OCPConnectionsModule, schema.OCPVersion)
	if err != nil && hasModel(c, schema.OCPConnectionsModule, schema.OCPRevision) == nil {
		return nil
	}
	return err
}

func connectionsPath() []schema.Path {
	return []schema.Path{schema.Path{{Name: "connections"}}.Entry("port-connection", "name", schema.Any)}
}

// ConfigPaths implements Profile.
func (OCP) ConfigPaths() []schema.Path { return connectionsPath() }

// StatePaths implements Profile.
func (OCP) StatePaths() []schema.Path { return connectionsPath() }

// WatchPaths implements Profile.
func (OCP) WatchPaths() []schema.Path { return connectionsPath() }

// pair is a circuit's ends.
type pair struct{ in, out southbound.Port }

// configured returns the named connections that leaves configure.
func configured(leaves []schema.Leaf) map[string]pair { return portsIn(leaves, "config") }

// portsIn returns the ports of connections by name, as the containers of that name have them.
func portsIn(leaves []schema.Leaf, container string) map[string]pair {
	ins, outs := map[string]southbound.Port{}, map[string]southbound.Port{}
	for _, l := range leaves {
		name, where, leaf, ok := connectionLeaf(l.Path)
		text, _ := l.Value.(string)
		if !ok || where != container {
			continue
		}
		if p, ok := InputNamed(text); ok && leaf == "input-port-name" {
			ins[name] = p
		}
		if p, ok := OutputNamed(text); ok && leaf == "output-port-name" {
			outs[name] = p
		}
	}
	both := map[string]pair{}
	for name, in := range ins {
		if out, ok := outs[name]; ok {
			both[name] = pair{in, out}
		}
	}
	return both
}

// connectionLeaf takes /connections/port-connection[name=NAME]/WHERE/LEAF apart.
func connectionLeaf(p schema.Path) (name, where, leaf string, ok bool) {
	if len(p) != 4 || p[0].Name != "connections" || p[1].Name != "port-connection" {
		return "", "", "", false
	}
	return p[1].Key("name"), p[2].Name, p[3].Name, true
}

// circuitWriter encodes changes of circuits. It knows what the device is configured with.
type circuitWriter struct {
	p      OCP
	model  *schema.Model
	have   map[string]pair
	wanted map[string]pair // after the last Encode
	hidden map[string]pair // connections that have a state and no configuration
}

// circuits implements circuitKnower.
func (w *circuitWriter) circuits() map[string]pair { return w.have }

// NewWriter implements Profile.
func (p OCP) NewWriter(config []schema.Leaf) Writer {
	w := &circuitWriter{p: p, model: p.Model(), have: configured(config), hidden: map[string]pair{}}
	stands := portsIn(config, "state")
	for _, l := range config {
		name, where, leaf, ok := connectionLeaf(l.Path)
		if _, named := w.have[name]; !ok || named || where != "state" || leaf != "status" ||
			l.Value == southbound.PendingDeletion.String() {
			continue
		}
		if h, ok := stands[name]; ok {
			w.hidden[name] = h
		} else if in, out, ok := ConnectionNamed(name); ok {
			w.hidden[name] = pair{in, out}
		}
	}
	return w
}

// Accepted implements Writer.
func (w *circuitWriter) Accepted() { w.have = w.wanted }

// Encode implements Writer. A circuit that stands is sent again, under the name it has: that is nothing
// to a device that has it, and a new try to one where it failed.
func (w *circuitWriter) Encode(c *southbound.Change) (*gpb.SetRequest, error) {
	req := &gpb.SetRequest{}
	w.wanted = w.have
	if c.Empty() {
		return req, nil
	}
	if err := w.p.check(c); err != nil {
		return nil, err
	}
	kept, gone := retain(w.have, c)
	_, unseen := retain(w.hidden, c)
	for _, name := range slices.Concat(gone, unseen) {
		req.Delete = append(req.Delete, w.model.Proto(ConnectionPath(name)))
	}
	w.wanted = kept
	standing := map[pair]string{}
	for _, name := range sortedKeys(kept) {
		standing[kept[name]] = name
	}
	for _, x := range sortedConnects(c.Connect) {
		if x.Off {
			continue
		}
		name := cmp.Or(standing[pair{x.In, x.Out}], ConnectionName(x.In, x.Out))
		w.wanted[name] = pair{x.In, x.Out}
		u, err := entry(w.model, ConnectionPath(name), ConnectionLeaves(name, x.In, x.Out))
		if err != nil {
			return nil, err
		}
		req.Update = append(req.Update, u)
	}
	return req, nil
}

// retain splits the existing circuits into those that a change keeps, in a map that the caller can
// write to, and the names of those that it removes: circuits whose ports it gives to others and, where
// it replaces everything, all that it does not name.
func retain(have map[string]pair, c *southbound.Change) (kept map[string]pair, gone []string) {
	onIn, outTaken := map[southbound.Port]southbound.CrossConnect{}, map[southbound.Port]bool{}
	for _, x := range c.Connect {
		onIn[x.In] = x
		if !x.Off {
			outTaken[x.Out] = true
		}
	}
	kept = map[string]pair{}
	for _, name := range sortedKeys(have) {
		h := have[name]
		x, named := onIn[h.in]
		same := named && !x.Off && x.Out == h.out
		if !same && (named || outTaken[h.out] || c.Replace) {
			gone = append(gone, name)
			continue
		}
		kept[name] = h
	}
	return kept, gone
}

func sortedConnects(all []southbound.CrossConnect) []southbound.CrossConnect {
	out := slices.Clone(all)
	slices.SortFunc(out, func(a, b southbound.CrossConnect) int { return cmp.Compare(a.In, b.In) })
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func (p OCP) check(c *southbound.Change) error { return checkCircuits(c, p.Ports) }

// checkCircuits finds what an optical switch of that many ports could not tell from a request.
func checkCircuits(c *southbound.Change, ports int32) error {
	if len(c.Rules)+len(c.Drop) > 0 {
		return refused("encode change: an optical switch takes no rules")
	}
	ok := func(x southbound.Port) bool { return x >= 0 && int32(x) < ports }
	ins, outs := map[southbound.Port]bool{}, map[southbound.Port]bool{}
	for _, x := range c.Connect {
		switch {
		case !ok(x.In) || !x.Off && !ok(x.Out):
			return refused("encode circuit %d→%d: ports are 0 to %d", x.In, x.Out, ports-1)
		case ins[x.In] || !x.Off && outs[x.Out]:
			return refused("encode circuit %d→%d: a port is used twice in one change", x.In, x.Out)
		}
		ins[x.In] = true
		if !x.Off {
			outs[x.Out] = true
		}
	}
	return nil
}
