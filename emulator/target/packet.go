package target

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// packetFront shows a packet switch as the openconfig profile describes it: one PBR policy, applied to all ports or to
// none; its rules take effect while it is applied.
type packetFront struct {
	wall
	p      gnmi.OpenConfig
	name   string
	rules  map[uint32]southbound.Rule     // as configured
	byDst  map[southbound.RackID][]uint32 // their sequence-ids
	place  map[southbound.Match]uint32    // where the state of a match stands
	active bool                           // the policy is applied
}

func newPacketFront(c device.Config, w wall) *packetFront {
	return &packetFront{wall: w, name: c.Name, p: gnmi.OpenConfig{Ports: c.Ports, Racks: c.Racks}}
}

func (f *packetFront) model() *schema.Model { return schema.OpenConfig() }

func instance() schema.Path {
	return path("network-instances").Entry("network-instance", "name", gnmi.Instance)
}

func policies() schema.Path { return instance().With("policy-forwarding", "policies") }

func rulesPath() schema.Path {
	return policies().Entry("policy", "policy-id", gnmi.Policy).With("rules")
}

func rulePath(seq uint32) schema.Path {
	return rulesPath().Entry("rule", "sequence-id", fmt.Sprint(seq))
}

func bindings() schema.Path { return instance().With("policy-forwarding", "interfaces") }

// load implements front. A device that already has rules shows them as the profile writes them.
func (f *packetFront) load(t *tree, now time.Duration, dev *device.Device) {
	f.rules, f.byDst, f.place = map[uint32]southbound.Rule{}, map[southbound.RackID][]uint32{}, map[southbound.Match]uint32{}
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
		f.port(t, now, i, !slices.Contains(seen.Down, i))
	}
	t.put(f.component().With("state", "name"), f.name)
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

func (f *packetFront) counters(t *tree, dropped uint64) {
	t.put(f.component().With("integrated-circuit", "pipeline-counters", "drop", "state", "no-route"), dropped)
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
	group := gnmi.GroupName(r.Primary, r.Backup)
	if f.rules[seq] == r {
		if name, ok := t.get(rulePath(seq).With("action", "config", "next-hop-group")).(string); ok {
			group = name
		}
	}
	t.remove(rulePath(seq), isState)
	for _, l := range gnmi.RuleLeavesAt(rulePath(seq), seq, group, r.Match, true) {
		t.put(l.Path, l.Value)
	}
}

// mirror copies configuration that takes effect at once, all but rules, into the state beside it.
func (f *packetFront) mirror(t *tree) {
	rules := rulesPath()
	for _, e := range slices.Clone(t.edits) {
		i := slices.IndexFunc(e.path, func(x schema.Elem) bool { return x.Name == "config" })
		if i < 0 || rules.Match(e.path) {
			continue
		}
		twin := slices.Clone(e.path)
		twin[i].Name = "state"
		t.put(twin, e.new)
	}
}

// plan implements front.
func (f *packetFront) plan(t *tree, touched []schema.Path) (*southbound.Change, func(), error) {
	if err := f.checkNames(t); err != nil {
		return nil, nil, err
	}
	active, err := f.applies(t)
	if err != nil {
		return nil, nil, err
	}
	p := rulePlan{front: f, tree: t, active: active, now: map[uint32]southbound.Rule{}, gone: map[uint32]bool{}}
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

// checkNames finds instances and policies that this switch does not have.
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
		if name := x.path[4].Key("policy-id"); name != gnmi.Policy {
			return unsupported("policy %q: this switch holds one policy, named %q", name, gnmi.Policy)
		}
	}
	kind := t.get(policies().Entry("policy", "policy-id", gnmi.Policy).With("config", "type"))
	if kind == "VRF_SELECTION_POLICY" {
		return unsupported("policy %q: this switch has policies of type PBR_POLICY only", gnmi.Policy)
	}
	return nil
}

// applies says whether the policy is applied to the ports.
func (f *packetFront) applies(t *tree) (bool, error) {
	n := int32(0)
	for _, x := range t.find(bindings().With("interface")) {
		name := x.path[4].Key("interface-id")
		if p, ok := gnmi.PortNamed(name); !ok || int32(p) >= f.p.Ports {
			return false, refused("interface %q: interfaces are %s to %s", name, gnmi.InterfaceName(0), gnmi.InterfaceName(southbound.Port(f.p.Ports-1)))
		}
		switch policy := t.get(x.path.With("config", "apply-forwarding-policy")); {
		case policy == nil:
		case policy != gnmi.Policy || !t.exists(policies().Entry("policy", "policy-id", gnmi.Policy).With("config")):
			return false, refused("interface %q: policy %v does not exist", name, policy)
		default:
			n++
		}
	}
	if n != 0 && n != f.p.Ports {
		return false, unsupported("policy %q is applied to %d of %d ports: this switch applies it to all or to none", gnmi.Policy, n, f.p.Ports)
	}
	return n > 0, nil
}

// regrouped says whether a group or next hop that stood before has changed: then any rule may have.
func (f *packetFront) regrouped(t *tree) bool {
	static := instance().With("static")
	if !slices.ContainsFunc(t.edits, func(e edit) bool { return static.Match(e.path) }) {
		return false
	}
	edits := t.net()
	made := map[string]bool{} // entries whose name is new
	for _, e := range edits {
		if static.Match(e.path) && len(e.path) == 7 && e.path[5].Name == "config" && e.old == nil &&
			e.path[6].Name == e.path[4].Keys[0].Name {
			made[e.path[4].String()] = true
		}
	}
	return slices.ContainsFunc(edits, func(e edit) bool {
		return static.Match(e.path) && isConfig(e.node) && !made[e.path[4].String()]
	})
}

// rulePlan is what becomes of the rules.
type rulePlan struct {
	front  *packetFront
	tree   *tree
	active bool
	whole  bool                       // now is the whole configuration
	now    map[uint32]southbound.Rule // those that were touched and stand
	gone   map[uint32]bool
}

// all reads every rule again.
func (p *rulePlan) all() error {
	p.whole = true
	tables := gnmi.ReadTables(p.tree.under(instance(), isConfig), "config")
	for _, seq := range tables.Sequences() {
		r, err := tables.Rule(seq)
		if err != nil {
			return refused("%w", err)
		}
		p.now[seq] = r
	}
	return nil
}

// some reads the rules that were touched.
func (p *rulePlan) some(touched []schema.Path) error {
	tables := gnmi.ReadTables(nil, "config")
	add := func(at schema.Path) {
		for _, l := range p.tree.under(at, isConfig) {
			tables.Add(l, "config")
		}
	}
	seen := map[string]bool{}
	static, rules := instance().With("static"), rulesPath()
	for _, at := range touched {
		if !rules.Match(at) || len(at) < 7 || seen[at[6].String()] {
			continue
		}
		seen[at[6].String()] = true
		seq, ok := sequence(at[6].Key("sequence-id"))
		if !ok {
			return fmt.Errorf("rule %q: its sequence-id is no uint32: %w", at[6].Key("sequence-id"), schema.ErrMalformed)
		}
		if !p.tree.configured(at[:7]) {
			p.gone[seq] = true
			continue
		}
		add(at[:7])
		name, _ := p.tree.get(at[:7].With("action", "config", "next-hop-group")).(string)
		group := static.With("next-hop-groups").Entry("next-hop-group", "name", name)
		if !seen["group "+name] {
			seen["group "+name] = true
			add(group)
			for _, hop := range p.tree.find(group.With("next-hops", "next-hop")) {
				index := hop.path[6].Key("index")
				if !seen["hop "+index] {
					seen["hop "+index] = true
					add(static.With("next-hops").Entry("next-hop", "index", index))
				}
			}
		}
	}
	for _, seq := range tables.Sequences() {
		r, err := tables.Rule(seq)
		if err != nil {
			return refused("%w", err)
		}
		p.now[seq] = r
	}
	return nil
}

func sequence(text string) (uint32, bool) {
	var seq uint32
	_, err := fmt.Sscanf(text, "%d", &seq)
	return seq, err == nil && fmt.Sprint(seq) == text
}

// numbered is a rule with its place.
type numbered struct {
	seq uint32
	southbound.Rule
}

// checkOrder holds the places of rules against what the switch does: the most specific of the rules that fit a packet
// decides, so a rule must come before those it is more specific than, and no match may stand twice.
func (p *rulePlan) checkOrder() error {
	for _, rules := range p.affected() {
		slices.SortFunc(rules, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
		for i, a := range rules {
			for _, b := range rules[i+1:] {
				if !overlap(a.Match, b.Match) {
					continue
				}
				if a.Match == b.Match {
					return refused("rule %d matches the same as rule %d", b.seq, a.seq)
				}
				if rank(a.Match) >= rank(b.Match) {
					return unsupported("rule %d is more specific than rule %d and comes after it: give it a smaller sequence-id", b.seq, a.seq)
				}
			}
		}
	}
	return nil
}

// affected returns the rules of every destination of which a rule was touched, by destination.
func (p *rulePlan) affected() [][]numbered {
	byDst := map[southbound.RackID][]numbered{}
	for seq, r := range p.now {
		byDst[r.Dst] = append(byDst[r.Dst], numbered{seq, r})
	}
	var out [][]numbered
	for dst, rules := range byDst {
		for _, seq := range p.front.byDst[dst] {
			if _, again := p.now[seq]; !again && !p.gone[seq] && !p.whole {
				rules = append(rules, numbered{seq, p.front.rules[seq]})
			}
		}
		out = append(out, rules)
	}
	slices.SortFunc(out, func(a, b []numbered) int { return cmp.Compare(a[0].Dst, b[0].Dst) })
	return out
}

func overlap(a, b southbound.Match) bool {
	return (a.Src == b.Src || a.Src == southbound.AnyRack || b.Src == southbound.AnyRack) &&
		(a.Tag == b.Tag || a.Tag == southbound.AnyTag || b.Tag == southbound.AnyTag)
}

// rank is smaller for what a packet is tried against first.
func rank(m southbound.Match) int {
	n := 0
	if m.Src == southbound.AnyRack {
		n += 2
	}
	if m.Tag == southbound.AnyTag {
		n++
	}
	return n
}

// change returns what to ask of the device.
func (p *rulePlan) change() *southbound.Change {
	c := &southbound.Change{}
	f := p.front
	switch {
	case !p.active && !f.active:
	case !p.active:
		c.Replace = true
	case p.whole:
		c.Replace, c.Rules = true, values(p.now)
	case !f.active:
		c.Replace = true
		all := map[uint32]southbound.Rule{}
		for seq, r := range f.rules {
			if !p.gone[seq] {
				all[seq] = r
			}
		}
		for seq, r := range p.now {
			all[seq] = r
		}
		c.Rules = values(all)
	default:
		c.Rules = values(p.now)
		for _, seq := range keys(p.gone) {
			if r, ok := f.rules[seq]; ok {
				c.Drop = append(c.Drop, r.Match)
			}
		}
		for _, seq := range keys(p.now) {
			if r, ok := f.rules[seq]; ok && r.Match != p.now[seq].Match {
				c.Drop = append(c.Drop, r.Match)
			}
		}
		c.Drop = slices.DeleteFunc(c.Drop, func(m southbound.Match) bool {
			return slices.ContainsFunc(c.Rules, func(r southbound.Rule) bool { return r.Match == m })
		})
	}
	return c
}

// done makes the plan the configuration.
func (p *rulePlan) done() {
	f := p.front
	f.mirror(p.tree)
	f.active = p.active
	if p.whole {
		for _, seq := range keys(f.rules) {
			if _, still := p.now[seq]; !still {
				p.gone[seq] = true
			}
		}
	}
	for _, seq := range keys(p.gone) {
		f.forget(seq)
	}
	for _, seq := range keys(p.now) {
		f.forget(seq)
	}
	for _, seq := range keys(p.now) {
		r := p.now[seq]
		f.rules[seq] = r
		f.byDst[r.Dst] = append(f.byDst[r.Dst], seq)
		old, ok := f.place[r.Match]
		f.place[r.Match] = seq
		if ok && old != seq && len(p.tree.under(rulePath(old), isState)) > 0 {
			p.tree.remove(rulePath(old), isState) // the same match at another place: nothing changes for packets
			f.show(p.tree, r)
		}
	}
}

func (f *packetFront) forget(seq uint32) {
	r, ok := f.rules[seq]
	if !ok {
		return
	}
	delete(f.rules, seq)
	f.byDst[r.Dst] = slices.DeleteFunc(f.byDst[r.Dst], func(s uint32) bool { return s == seq })
}

func keys[V any](m map[uint32]V) []uint32 {
	out := make([]uint32, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func values(m map[uint32]southbound.Rule) []southbound.Rule {
	var out []southbound.Rule
	for _, k := range keys(m) {
		out = append(out, m[k])
	}
	return out
}
