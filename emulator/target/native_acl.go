package target

import (
	"slices"
	"strings"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// aclView is a packet switch as SONiC's databases describe it: one access control list that redirects,
// bound to all ports.
type aclView struct{ p gnmi.SONiC }

func newACLView(c device.Config) aclView {
	return aclView{gnmi.SONiC{Ports: c.Ports, Racks: c.Racks, ControllerBackup: true}}
}

func (v aclView) profile() gnmi.Profile { return v.p }

func (v aclView) port(p southbound.Port, up bool) []schema.Leaf { return v.p.PortLeaves(p, up) }

func (v aclView) counts(p southbound.Port, c PortCount) []schema.Leaf {
	return c.leaves(v.p.StatisticsPath(p), gnmi.SONiCCounters())
}

// read implements nativeView.
func (v aclView) read(config []schema.Leaf) ([]southbound.Rule, error) {
	table := map[string]schema.Value{}
	priority := map[string]uint64{}
	for _, l := range config {
		key, field := l.Path[2].Key("key"), l.Path[3].Name
		switch l.Path[2].Name {
		case "ACL_TABLE":
			if key != gnmi.ForwardingPolicy {
				return nil, unsupported("ACL_TABLE %q: this switch holds one list, named %q", key,
					gnmi.ForwardingPolicy)
			}
			table[field] = l.Value
		case "ACL_RULE":
			if !strings.HasPrefix(key, gnmi.ForwardingPolicy+"|") {
				return nil, unsupported("ACL_RULE %q: this switch holds one list, named %q", key,
					gnmi.ForwardingPolicy)
			}
			if err := v.field(key, field); err != nil {
				return nil, err
			}
			if n, ok := l.Value.(uint64); ok && field == "PRIORITY" {
				priority[key] = n
			}
		default:
			return nil, unsupported("%s: this switch takes ACL_TABLE and ACL_RULE only", l.Path)
		}
	}
	if err := v.checkTable(table, config); err != nil {
		return nil, err
	}
	rows, err := v.p.Rows(config)
	if err != nil {
		return nil, refused("%w", err)
	}
	var all []numbered
	for _, row := range rows {
		n, ok := priority[row.Key]
		if !ok || n > maxACLPriority {
			return nil, refused("ACL_RULE %q: it needs a PRIORITY of 0 to %d", row.Key, maxACLPriority)
		}
		all = append(all, numbered{uint32(maxACLPriority - n), row.Rule})
	}
	return inOrder(all)
}

// maxACLPriority is the largest PRIORITY that sonic-acl takes.
const maxACLPriority = 999_999

// field refuses what this switch cannot do, though the model has it.
func (v aclView) field(key, field string) error {
	known := []string{"PRIORITY", "REDIRECT_ACTION", "SRC_IP", "DST_IP", "DSCP"}
	if !slices.Contains(known, field) {
		return unsupported("ACL_RULE %q: %s: this switch takes %s", key, field, strings.Join(known, ", "))
	}
	return nil
}

// checkTable checks the list that the rows belong to.
func (v aclView) checkTable(table map[string]schema.Value, config []schema.Leaf) error {
	rows := slices.ContainsFunc(config, func(l schema.Leaf) bool { return l.Path[2].Name == "ACL_RULE" })
	if len(table) == 0 && !rows {
		return nil
	}
	ports, _ := table["ports"].([]schema.Value)
	switch {
	case len(table) == 0:
		return refused("ACL_RULE: there is no ACL_TABLE %q", gnmi.ForwardingPolicy)
	case table["type"] != "L3" || table["stage"] != "INGRESS":
		return unsupported("ACL_TABLE %q: type %v, stage %v: this switch takes type L3 and stage INGRESS",
			gnmi.ForwardingPolicy,
			table["type"], table["stage"])
	case int32(len(ports)) != v.p.Ports:
		return unsupported("ACL_TABLE %q: it is bound to %d of %d ports: this switch binds it to all",
			gnmi.ForwardingPolicy,
			len(ports), v.p.Ports)
	}
	for _, p := range ports {
		name, _ := p.(string)
		if _, ok := v.p.PortNamed(name); !ok {
			return refused("ACL_TABLE %q: port %v: there is none", gnmi.ForwardingPolicy, p)
		}
	}
	return nil
}
