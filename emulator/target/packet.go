package target

import (
	"slices"
	"strconv"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// packetFront shows a packet switch as the openconfig profile describes it: one PBR policy, applied to
// all ports or to none; its rules take effect while it is applied.
type packetFront struct {
	wall
	p      gnmi.OpenConfig
	name   string
	rules  map[uint32]southbound.Rule     // as configured
	byDst  map[southbound.RackID][]uint32 // their sequence-ids
	place  map[southbound.Match]uint32    // where the state of a match stands
	active bool                           // the forwarding policy is applied
	base   schema.Path                    // of rules
	static schema.Path                    // of groups and next hops
}

func newPacketFront(c device.Config, w wall) *packetFront {
	return &packetFront{wall: w, name: c.Name, p: gnmi.OpenConfig{Ports: c.Ports, Racks: c.Racks},
		base:   rulesPath(),
		static: instance().With("static")}
}

func (f *packetFront) model() *schema.Model { return schema.OpenConfig() }

func instance() schema.Path {
	return path("network-instances").Entry("network-instance", "name", gnmi.Instance)
}

func policies() schema.Path { return instance().With("policy-forwarding", "policies") }

func rulesPath() schema.Path {
	return policies().Entry("policy", "policy-id", gnmi.ForwardingPolicy).With("rules")
}

func rulePath(seq uint32) schema.Path {
	return rulesPath().Entry("rule", "sequence-id", strconv.FormatUint(uint64(seq), 10))
}

func bindings() schema.Path { return instance().With("policy-forwarding", "interfaces") }

// load implements front. A device that already has rules shows them as the profile writes them.
func (f *packetFront) load(t *tree, now time.Duration, dev Switch) {
	f.rules, f.byDst, f.place = map[uint32]southbound.Rule{}, map[southbound.RackID][]uint32{},
		map[southbound.Match]uint32{}
	f.active = false
	put := func(leaves []schema.Leaf) {
		for _, l := range leaves {
			t.put(l.Path, l.Value)
		}
	}
	put([]schema.Leaf{
		{Path: instance().With("config", "name"), Value: gnmi.Instance},
		{Path: instance().With("config", "type"), Value: "DEFAULT_INSTANCE"},
	})
	if rules := dev.Accepted().Rules; len(rules) > 0 {
		put(f.p.BaseLeaves())
		f.active = true
		for _, r := range rules {
			put(f.p.GroupLeaves(r.Primary, r.Backup))
			put(f.p.RuleLeaves(r, false))
			seq := f.p.Sequence(r.Match)
			f.rules[seq], f.place[r.Match] = r, seq
			f.byDst[r.Dst] = append(f.byDst[r.Dst], seq)
		}
	}
	f.mirror(t)
	seen := dev.Seen(now)
	f.applied(t, device.Applied{At: now, Set: seen.Rules, Replace: true})
	for i := range southbound.Port(f.p.Ports) {
		at := path("interfaces").Entry("interface", "name", gnmi.InterfaceName(i)).With("state")
		t.put(at.With("name"), gnmi.InterfaceName(i))
		t.put(at.With("admin-status"), "UP")
		t.put(at.With("type"), "ethernetCsmacd")
		t.put(at.With("enabled"), true)
		f.port(t, now, i, !slices.Contains(seen.Down, i))
	}
	t.put(f.component().With("state", "name"), f.name)
	t.put(f.component().With("state", "oper-status"), "ACTIVE")
	t.put(path("system", "state", "hostname"), f.name)
	t.put(path("system", "state", "boot-time"), f.nanos(now))
}

func (f *packetFront) component() schema.Path {
	return path("components").Entry("component", "name", f.name)
}

func (f *packetFront) port(t *tree, now time.Duration, p southbound.Port, up bool) {
	at := path("interfaces").Entry("interface", "name", gnmi.InterfaceName(p)).With("state")
	status := "DOWN"
	if up {
		status = "UP"
	}
	t.put(at.With("oper-status"), status)
	t.put(at.With("last-change"), f.nanos(now))
}

func (f *packetFront) event(t *tree, e southbound.DeviceEvent) {
	if e.Kind == southbound.PortUp || e.Kind == southbound.PortDown {
		f.port(t, e.At, e.In, e.Kind == southbound.PortUp)
	}
}

func (f *packetFront) counters(t *tree, r reading) {
	t.put(path("system", "state", "current-datetime"), time.Now().UTC().Format(time.RFC3339Nano))
	t.put(f.component().With("integrated-circuit", "pipeline-counters", "drop", "state",
		"no-route"), r.dropped)
	neighbors(t, r.heard)
	portCounts(t, r.ports)
}

// applied implements front: what is effective is the state of rules.
func (f *packetFront) applied(t *tree, a device.Applied) {
	if a.Replace {
		t.remove(rulesPath(), isState)
	}
	for _, m := range a.Drop {
		if seq, ok := f.place[m]; ok {
			t.remove(rulePath(seq), isState)
		}
	}
	for _, r := range a.Set {
		f.show(t, r)
	}
}

// show writes a rule's state where its configuration stands, or where the profile would put it.
func (f *packetFront) show(t *tree, r southbound.Rule) {
	seq, ok := f.place[r.Match]
	if !ok {
		seq = f.p.Sequence(r.Match)
		f.place[r.Match] = seq
	}
	at := f.base.Entry("rule", "sequence-id", strconv.FormatUint(uint64(seq), 10))
	group := gnmi.GroupName(r.Primary, r.Backup)
	e, _ := t.around(at)
	if e != nil && f.rules[seq] == r {
		if name, ok := e.get(path("action", "config", "next-hop-group")).(string); ok {
			group = name
		}
	}
	shown := ok && e != nil && e.has(path("ipv4", "state"))
	if shown && r.Src == southbound.AnyRack {
		t.put(at.With("ipv4", "state", "source-address"), nil)
	}
	if shown && r.Tag == southbound.AnyTag {
		t.put(at.With("ipv4", "state", "dscp-set"), nil)
	}
	for _, l := range gnmi.RuleLeavesAt(at, seq, group, r.Match, true) {
		t.put(l.Path, l.Value)
	}
}

// mirror copies configuration that takes effect at once, all but rules, into the state beside it.
func (f *packetFront) mirror(t *tree) {
	for _, e := range t.edits { // those that it makes follow these
		i := slices.IndexFunc(e.path, func(x schema.Elem) bool { return x.Name == "config" })
		if i < 0 || f.base.Match(e.path) {
			continue
		}
		twin := slices.Clone(e.path)
		twin[i].Name = "state"
		v := e.new
		if v == nil {
			v = f.unset(twin)
		}
		t.put(twin, v)
	}
}

// unset is what holds where nothing is configured.
func (f *packetFront) unset(p schema.Path) schema.Value {
	switch last := p[len(p)-1].Name; {
	case p[0].Name == "system" && last == "hostname":
		return f.name
	case p[0].Name == "interfaces" && last == "name":
		return p[1].Key("name")
	case p[0].Name == "interfaces" && last == "type":
		return "ethernetCsmacd"
	case p[0].Name == "interfaces" && last == "enabled":
		return true
	}
	return nil
}

// plan implements front.
func (f *packetFront) plan(t *tree, touched []schema.Path) (*southbound.Change, func(), error) {
	active, err := f.active, error(nil)
	if !f.inside(t) {
		if err = f.checkNames(t); err == nil {
			err = f.checkPorts(t)
		}
		if err == nil {
			active, err = f.applies(t)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	p := rulePlan{front: f, tree: t, active: active, now: map[uint32]southbound.Rule{},
		gone: map[uint32]bool{}}
	if f.regrouped(t) {
		err = p.all()
	} else {
		err = p.some(touched)
	}
	if err == nil {
		err = p.checkOrder()
	}
	if err != nil {
		return nil, nil, err
	}
	return p.change(), p.done, nil
}

// inside reports whether all edits are of rules, groups and next hops: then what was accepted of names,
// of the forwarding policy and of its ports stands.
func (f *packetFront) inside(t *tree) bool {
	return !slices.ContainsFunc(t.edits, func(e edit) bool {
		return !f.base.Match(e.path) &&
			!f.static.Match(e.path)
	})
}

// checkNames finds instances and forwarding policies that this switch does not have.
func (f *packetFront) checkNames(t *tree) error {
	if t.get(instance().With("config", "name")) == nil {
		return unsupported("network-instance %q: it cannot be deleted", gnmi.Instance)
	}
	for _, x := range t.find(path("network-instances", "network-instance")) {
		if name := x.path[1].Key("name"); name != gnmi.Instance {
			return unsupported("network-instance %q: this switch has %q only", name, gnmi.Instance)
		}
	}
	for _, x := range t.find(policies().With("policy")) {
		if name := x.path[4].Key("policy-id"); name != gnmi.ForwardingPolicy {
			return unsupported("policy %q: this switch holds one policy, named %q", name, gnmi.ForwardingPolicy)
		}
	}
	kind := t.get(policies().Entry("policy", "policy-id", gnmi.ForwardingPolicy).With("config", "type"))
	if kind == "VRF_SELECTION_POLICY" {
		return unsupported("policy %q: this switch has policies of type PBR_POLICY only", gnmi.ForwardingPolicy)
	}
	return nil
}

// checkPorts finds settings of ports that this switch does not have, or cannot follow.
func (f *packetFront) checkPorts(t *tree) error {
	for _, x := range t.find(path("interfaces", "interface")) {
		name := x.path[1].Key("name")
		switch p, ok := gnmi.PortNamed(name); {
		case !ok || int32(p) >= f.p.Ports:
			return f.noPort(name)
		case t.get(x.path.With("config", "enabled")) == false:
			return unsupported("interface %q: ports of this switch cannot be disabled", name)
		}
	}
	for _, x := range t.find(path("interfaces", "interface", "subinterfaces", "subinterface")) {
		if index := x.path[3].Key("index"); index != "0" {
			return unsupported("interface %q: subinterface %s: this switch knows no VLANs, and has subinterface 0 only",
				x.path[1].Key("name"), index)
		}
	}
	return nil
}

func (f *packetFront) noPort(name string) error {
	return refused("interface %q: interfaces are %s to %s", name, gnmi.InterfaceName(0),
		gnmi.InterfaceName(southbound.Port(f.p.Ports-1)))
}

// applies reports whether the forwarding policy is applied to the ports.
func (f *packetFront) applies(t *tree) (bool, error) {
	n := int32(0)
	for _, x := range t.find(bindings().With("interface")) {
		name := x.path[4].Key("interface-id")
		if p, ok := gnmi.PortNamed(name); !ok || int32(p) >= f.p.Ports {
			return false, f.noPort(name)
		}
		switch policy := t.get(x.path.With("config", "apply-forwarding-policy")); {
		case policy == nil:
		case policy != gnmi.ForwardingPolicy || !t.exists(policies().Entry("policy", "policy-id", gnmi.ForwardingPolicy).
			With("config")):
			return false, refused("interface %q: policy %v does not exist", name, policy)
		default:
			n++
		}
	}
	if n != 0 && n != f.p.Ports {
		return false, unsupported("policy %q is applied to %d of %d ports: this switch applies it to all or to none",
			gnmi.ForwardingPolicy, n, f.p.Ports)
	}
	return n > 0, nil
}

// regrouped reports whether a group or next hop that stood before has changed: then any rule may have.
func (f *packetFront) regrouped(t *tree) bool {
	var edits []edit
	for _, e := range t.edits {
		if f.static.Match(e.path) {
			edits = append(edits, e)
		}
	}
	edits = netEdits(edits)
	made := map[string]bool{} // entries whose name is new
	for _, e := range edits {
		if len(e.path) == 7 && e.path[5].Name == "config" && e.old == nil &&
			e.path[6].Name == e.path[4].Keys[0].Name {
			made[e.path[4].String()] = true
		}
	}
	return slices.ContainsFunc(edits, func(e edit) bool {
		return isConfig(e.node) && !made[e.path[4].String()]
	})
}
