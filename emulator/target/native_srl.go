package target

import (
	"slices"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// srlView is a packet switch as SR Linux describes it: one forwarding policy of type pbr-policy in the
// default instance, applied to all ports or to none.
type srlView struct {
	p     gnmi.SRLinux
	ports int
}

func newSRLView(c device.Config) srlView {
	return srlView{p: gnmi.SRLinux{Ports: c.Ports, Racks: c.Racks, ControllerBackup: true},
		ports: int(c.Ports)}
}

func (v srlView) profile() gnmi.Profile { return v.p }

func (v srlView) port(p southbound.Port, up bool) []schema.Leaf { return v.p.PortLeaves(p, up) }

func (v srlView) counts(p southbound.Port, c PortCount) []schema.Leaf {
	return c.leaves(v.p.StatisticsPath(p), gnmi.SRLinuxCounters())
}

// read implements nativeView.
func (v srlView) read(config []schema.Leaf) ([]southbound.Rule, error) {
	applied, kind := map[string]bool{}, "vrf-selection-policy" // the model's default
	for _, l := range config {
		p := l.Path
		switch {
		case p[0].Name != "network-instance":
			return nil, unsupported("%s: this switch configures network-instances only", p)
		case p[0].Key("name") != "default":
			return nil, unsupported("network-instance %q: this switch has %q only", p[0].Key("name"), "default")
		case p[1].Name != "policy-forwarding":
			return nil, unsupported("%s: this switch takes policy forwarding only", p)
		case p[2].Name == "policy" && p[2].Key("policy-id") != gnmi.ForwardingPolicy:
			return nil, unsupported("policy %q: this switch holds one policy, named %q", p[2].Key("policy-id"),
				gnmi.ForwardingPolicy)
		case p[2].Name == "policy" && p[3].Name == "type":
			kind, _ = l.Value.(string)
		case p[2].Name == "interface":
			name := p[2].Key("subinterface")
			if _, ok := v.p.SubinterfaceNamed(name); !ok {
				return nil, refused("subinterface %q: they are %s to %s", name, v.p.Subinterface(0),
					v.p.Subinterface(southbound.Port(v.ports-1)))
			}
			if l.Value != gnmi.ForwardingPolicy {
				return nil, refused("subinterface %q: policy %v does not exist", name, l.Value)
			}
			applied[name] = true
		}
	}
	rules, err := v.p.Rules(config)
	if err != nil {
		return nil, refused("%w", err)
	}
	switch {
	case len(rules) > 0 && kind != "pbr-policy":
		return nil, refused("policy %q: next-hop is only supported when type is pbr-policy",
			gnmi.ForwardingPolicy)
	case len(applied) > 0 && !slices.ContainsFunc(config, isPolicyLeaf):
		return nil, refused("policy %q does not exist, and is applied", gnmi.ForwardingPolicy)
	case len(applied) != 0 && len(applied) != v.ports:
		return nil, unsupported("policy %q is applied to %d of %d ports: this switch applies it to all or to none",
			gnmi.ForwardingPolicy, len(applied), v.ports)
	}
	var all []numbered
	for _, seq := range keys(rules) {
		if seq > schema.SRLRules {
			return nil, refused("rule %d: sequence-ids are 0 to %d", seq, schema.SRLRules)
		}
		for _, r := range rules[seq] {
			all = append(all, numbered{seq, r})
		}
	}
	ordered, err := inOrder(all)
	if len(applied) == 0 {
		ordered = nil
	}
	return ordered, err
}

func isPolicyLeaf(l schema.Leaf) bool { return len(l.Path) > 2 && l.Path[2].Name == "policy" }
