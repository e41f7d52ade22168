package gnmi

import (
	"cmp"
	"fmt"
	"slices"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// OpenConfigPlain is the profile of packet switches that know no groups of static next hops: a rule
// names the address at a port's far end, and the default of a destination is a static route. Such a
// switch has nothing that a backup could be written as.
type OpenConfigPlain struct {
	Ports, Racks int32

	// ReadConfig reads rules back from the configuration: the device keeps no state of them.
	ReadConfig bool
}

var _ Profile = OpenConfigPlain{}

// Names of the protocol that holds static routes, and of a route's only next hop.
const (
	staticID  = "STATIC"
	staticHop = "0"
)

func (p OpenConfigPlain) openConfig() OpenConfig { return OpenConfig{Ports: p.Ports, Racks: p.Racks} }

func staticProtocol() schema.Path {
	at := instancePath().With("protocols", "protocol")
	at[len(at)-1].Keys = []schema.Key{{Name: "identifier", Value: staticID}, {Name: "name", Value: Instance}}
	return at
}

func staticPath(dst southbound.RackID) schema.Path {
	return staticProtocol().With("static-routes").Entry("static", "prefix",
		southbound.RackPrefix(dst).String())
}

// isDefault reports whether a match is what is left of a destination: a static route.
func isDefault(m southbound.Match) bool {
	return m.Tag == southbound.AnyTag && m.Src == southbound.AnyRack
}

// Name implements Profile.
func (OpenConfigPlain) Name() string { return "openconfig-plain" }

// Model implements Profile.
func (OpenConfigPlain) Model() *schema.Model { return schema.OpenConfigPlain() }

// Check implements Profile.
func (OpenConfigPlain) Check(c *gpb.CapabilityResponse) error {
	return cmp.Or(hasModel(c, "openconfig-policy-forwarding", ""), hasModel(c, "openconfig-local-routing", ""))
}

// ConfigPaths implements Profile.
func (OpenConfigPlain) ConfigPaths() []schema.Path { return nil }

// StatePaths implements Profile.
func (OpenConfigPlain) StatePaths() []schema.Path {
	return []schema.Path{policyPath(), staticProtocol(), {{Name: "interfaces"}}}
}

// WatchPaths implements Profile.
func (OpenConfigPlain) WatchPaths() []schema.Path { return OpenConfig{}.WatchPaths() }

// NewDecoder implements Profile.
func (p OpenConfigPlain) NewDecoder() Decoder { return p.openConfig().NewDecoder() }

type plainWriter struct {
	p            OpenConfigPlain
	model        *schema.Model
	based, basis bool
}

// NewWriter implements Profile.
func (p OpenConfigPlain) NewWriter([]schema.Leaf) Writer { return &plainWriter{p: p, model: p.Model()} }

// Accepted implements Writer.
func (w *plainWriter) Accepted() { w.based = w.based || w.basis }

// Reread implements Rereader.
func (w *plainWriter) Reread() bool { return false }

// Encode implements Writer. List entries are set, never the containers around them.
func (w *plainWriter) Encode(c *southbound.Change) (*gpb.SetRequest, error) {
	req := &gpb.SetRequest{}
	w.basis = false
	if c.Empty() {
		return req, nil
	}
	twin := w.p.openConfig()
	if err := twin.check(c); err != nil {
		return nil, err
	}
	for _, r := range c.Rules {
		if r.Backup != southbound.NoPort {
			return nil, fmt.Errorf("encode rule %+v: an openconfig-plain switch knows no backup: %w: %w", r.Match,
				southbound.ErrUnsupported, southbound.ErrRefused)
		}
	}
	var err error
	add := func(list *[]*gpb.Update, at schema.Path, leaves []schema.Leaf) {
		u, e := entry(w.model, at, leaves)
		err = cmp.Or(err, e)
		*list = append(*list, u)
	}
	w.drops(req, c)
	if !w.based {
		w.basis = true
		w.base(req, add)
	}
	rules := slices.Clone(c.Rules)
	slices.SortFunc(rules, func(a, b southbound.Rule) int {
		return cmp.Compare(twin.Sequence(a.Match), twin.Sequence(b.Match))
	})
	for _, r := range rules {
		if isDefault(r.Match) {
			add(&req.Replace, staticPath(r.Dst), w.p.staticLeaves(r))
		} else {
			add(&req.Replace, rulePath(twin.Sequence(r.Match)), w.p.ruleLeaves(r))
		}
	}
	return req, err
}

// drops adds what goes. With Replace, everything that could be ours goes first.
func (w *plainWriter) drops(req *gpb.SetRequest, c *southbound.Change) {
	if c.Replace {
		for dst := range southbound.RackID(w.p.Racks) {
			req.Delete = append(req.Delete, w.model.Proto(staticPath(dst)))
		}
		req.Delete = append(req.Delete, w.model.Proto(policyPath().With("rules")))
		return
	}
	for _, m := range c.Drop {
		if slices.ContainsFunc(c.Rules, func(r southbound.Rule) bool { return r.Match == m }) {
			continue
		}
		at := rulePath(w.p.openConfig().Sequence(m))
		if isDefault(m) {
			at = staticPath(m.Dst)
		}
		req.Delete = append(req.Delete, w.model.Proto(at))
	}
}

// base adds what rules stand on: the forwarding policy, its application to every port, and the protocol
// of static routes.
func (w *plainWriter) base(req *gpb.SetRequest, add func(*[]*gpb.Update, schema.Path, []schema.Leaf)) {
	at := staticProtocol()
	add(&req.Update, at, []schema.Leaf{{Path: at.With("config", "identifier"), Value: staticID},
		{Path: at.With("config", "name"), Value: Instance}})
	base := w.p.openConfig().BaseLeaves()
	add(&req.Update, policyPath(), base)
	for i := range southbound.Port(w.p.Ports) {
		add(&req.Update, applyPath(i), base)
	}
}

func (p OpenConfigPlain) staticLeaves(r southbound.Rule) []schema.Leaf {
	at := staticPath(r.Dst)
	hop := at.With("next-hops").Entry("next-hop", "index", staticHop).With("config")
	return []schema.Leaf{
		{Path: at.With("config", "prefix"), Value: southbound.RackPrefix(r.Dst).String()},
		{Path: hop.With("index"), Value: staticHop},
		{Path: hop.With("next-hop"), Value: NextHop(r.Primary).String()},
	}
}

func (p OpenConfigPlain) ruleLeaves(r southbound.Rule) []schema.Leaf {
	seq := p.openConfig().Sequence(r.Match)
	leaves := RuleLeavesAt(rulePath(seq), seq, "", r.Match, false)
	last := &leaves[len(leaves)-1] // the group: here an address
	last.Path = rulePath(seq).With("action", "config", "next-hop")
	last.Value = NextHop(r.Primary).String()
	return leaves
}

// Seen implements Profile.
func (p OpenConfigPlain) Seen(state []schema.Leaf) (southbound.Seen, error) {
	where := "state"
	if p.ReadConfig {
		where = "config"
	}
	tables := ReadTables(state, where)
	var seen southbound.Seen
	for _, seq := range tables.Sequences() {
		r, err := tables.Rule(seq)
		if err != nil {
			return southbound.Seen{}, fmt.Errorf("read rules: %w", err)
		}
		seen.Rules = append(seen.Rules, r)
	}
	for _, l := range state {
		if port, up, ok := operStatus(l); ok && !up {
			seen.Down = append(seen.Down, port)
		}
		r, ok, err := readStatic(l, where)
		if err != nil {
			return southbound.Seen{}, err
		}
		if ok {
			seen.Rules = append(seen.Rules, r)
		}
	}
	slices.SortFunc(seen.Rules, byMatch)
	slices.Sort(seen.Down)
	return seen, nil
}

// readStatic reads the next hop of a rack's static route; false for any other leaf, and for routes that
// are not ours.
func readStatic(l schema.Leaf, where string) (southbound.Rule, bool, error) {
	n := len(l.Path)
	if n < 6 || !staticProtocol().Match(l.Path) || l.Path[n-1].Name != "next-hop" ||
		l.Path[n-2].Name != where {
		return southbound.Rule{}, false, nil
	}
	prefix, text := "", fmt.Sprint(l.Value)
	for _, e := range l.Path {
		prefix = cmp.Or(prefix, e.Key("prefix"))
	}
	dst, err := rackOf(prefix)
	if err != nil {
		return southbound.Rule{}, false, nil // another client's
	}
	port, err := portOfHop(text)
	if err != nil {
		return southbound.Rule{}, false, fmt.Errorf("read static route %s: %w", prefix, err)
	}
	return southbound.Rule{Match: southbound.Match{Dst: dst, Tag: southbound.AnyTag, Src: southbound.AnyRack},
		Primary: port, Backup: southbound.NoPort}, true, nil
}
