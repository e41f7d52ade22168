package gnmi

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// SONiC is the profile of packet switches that run SONiC: a rule is a row of ACL_RULE that redirects to
// a next hop. Rows are written a table at a time, and rows of other tables of rules are kept as they
// are. What is more specific has the larger PRIORITY.
type SONiC struct {
	Ports, Racks int32

	// Flags of vendor and site.
	Lanes            int32 // port p is "Ethernet<p·Lanes>"; 0 means 4
	ControllerBackup bool  // take rules with a backup, which the device does not fall back to by itself
}

var _ interface {
	Profile
	ReadsFirst
} = SONiC{}

// maxPriority is SONiC's largest ACL priority that is not reserved for default rules.
const maxPriority = 9999

func (p SONiC) lanes() int32 { return cmp.Or(p.Lanes, 4) }

func (p SONiC) portName(port southbound.Port) string {
	return "Ethernet" + strconv.Itoa(int(port)*int(p.lanes()))
}

// PortNamed returns the port of an interface name.
func (p SONiC) PortNamed(name string) (southbound.Port, bool) {
	lane, ok := portSuffix(name, "Ethernet")
	port := lane / southbound.Port(p.lanes())
	return port, ok && int32(lane)%p.lanes() == 0 && int32(port) < p.Ports
}

func aclTables() schema.Path  { return database("CONFIG_DB", "ACL_TABLE") }
func aclRules() schema.Path   { return database("CONFIG_DB", "ACL_RULE") }
func portStates() schema.Path { return database("STATE_DB", "PORT_TABLE") }

// ruleKey names a row: its match's sequence-id, and its backup for the controller's eyes.
func (p SONiC) ruleKey(r southbound.Rule) string {
	seq := OpenConfig{Ports: p.Ports, Racks: p.Racks}.Sequence(r.Match)
	key := fmt.Sprintf("%s|r%d", ForwardingPolicy, seq)
	if r.Backup != southbound.NoPort {
		key += fmt.Sprintf("-b%d", r.Backup)
	}
	return key
}

// Name implements Profile.
func (SONiC) Name() string { return "sonic" }

// ReadsFirst implements ReadsFirst.
func (SONiC) ReadsFirst() {}

// Model implements Profile.
func (SONiC) Model() *schema.Model { return schema.SONiC() }

// Check implements Profile. An optical switch speaks SONiC's databases too, and has no ACLs.
func (SONiC) Check(c *gpb.CapabilityResponse) error {
	if hasModel(c, "sonic-ocs", "") == nil {
		return fmt.Errorf("check capabilities: it is an optical circuit switch: %w", southbound.ErrUnsupported)
	}
	return hasModel(c, schema.SONiCModule, "")
}

// ConfigPaths implements Profile.
func (SONiC) ConfigPaths() []schema.Path { return []schema.Path{aclTables(), aclRules()} }

// StatePaths implements Profile.
func (SONiC) StatePaths() []schema.Path { return []schema.Path{aclRules(), portStates()} }

// WatchPaths implements Profile.
func (SONiC) WatchPaths() []schema.Path { return []schema.Path{portStates()} }

type aclWriter struct {
	p            SONiC
	model        *schema.Model
	have, wanted ruleTable
	others       []schema.Leaf // rows of ACL_RULE that are not ours
	tables       []schema.Leaf // rows of ACL_TABLE that are not ours
}

// NewWriter implements Profile.
func (p SONiC) NewWriter(config []schema.Leaf) Writer {
	w := &aclWriter{p: p, model: p.Model(), have: ruleTable{}}
	var mine []schema.Leaf
	for _, l := range config {
		if key, _, ok := cell(aclRules(), l.Path); ok && strings.HasPrefix(key, ForwardingPolicy+"|") {
			mine = append(mine, l)
		} else if ok {
			w.others = append(w.others, l)
		} else if key, _, ok := cell(aclTables(), l.Path); ok && key != ForwardingPolicy {
			w.tables = append(w.tables, l)
		}
	}
	rows, _ := p.rules(mine)
	for _, r := range rows {
		w.have[r.Match] = r
	}
	w.wanted = w.have
	return w
}

// Accepted implements Writer.
func (w *aclWriter) Accepted() { w.have = w.wanted }

// Encode implements Writer: both tables as they shall be.
func (w *aclWriter) Encode(c *southbound.Change) (*gpb.SetRequest, error) {
	w.wanted = w.have
	if c.Empty() {
		return &gpb.SetRequest{}, nil
	}
	twin := OpenConfig{Ports: w.p.Ports, Racks: w.p.Racks}
	if err := twin.check(c); err != nil {
		return nil, err
	}
	if err := noBackups(w.p.Name(), c.Rules); err != nil && !w.p.ControllerBackup {
		return nil, err
	}
	w.wanted = w.have.after(c)
	table := row(aclTables(), ForwardingPolicy)
	var ports []schema.Value
	for i := range southbound.Port(w.p.Ports) {
		ports = append(ports, w.p.portName(i))
	}
	tables := append(slices.Clone(w.tables),
		schema.Leaf{Path: table.With("policy_desc"), Value: ForwardingPolicy},
		schema.Leaf{Path: table.With("type"), Value: "L3"},
		schema.Leaf{Path: table.With("stage"), Value: "INGRESS"}, schema.Leaf{Path: table.With("ports"),
			Value: ports})
	req, err := tableRequest(w.model, aclTables(), tables)
	if err != nil {
		return nil, err
	}
	leaves := slices.Clone(w.others)
	for _, r := range w.wanted.sorted() {
		leaves = append(leaves, w.p.ruleLeaves(r)...)
	}
	rules, err := tableRequest(w.model, aclRules(), leaves)
	if err != nil {
		return nil, err
	}
	req.Delete, req.Replace = append(req.Delete, rules.Delete...), append(req.Replace, rules.Replace...)
	return req, nil
}

// ruleLeaves are the row of a rule.
func (p SONiC) ruleLeaves(r southbound.Rule) []schema.Leaf {
	at := row(aclRules(), p.ruleKey(r))
	out := []schema.Leaf{
		{Path: at.With("PRIORITY"), Value: uint64(maxPriority - specificity(r.Match))},
		{Path: at.With("DST_IP"), Value: southbound.RackPrefix(r.Dst).String()},
		{Path: at.With("REDIRECT_ACTION"), Value: NextHop(r.Primary).String()},
	}
	if r.Src != southbound.AnyRack {
		out = append(out, schema.Leaf{Path: at.With("SRC_IP"), Value: southbound.RackPrefix(r.Src).String()})
	}
	if r.Tag != southbound.AnyTag {
		out = append(out, schema.Leaf{Path: at.With("DSCP"), Value: fmt.Sprintf("%d/7", r.Tag)}) // value and mask
	}
	return out
}

// Row is a rule with the key of its row.
type Row struct {
	Key string
	southbound.Rule
}

// rules reads the rows of our table, by match.
func (p SONiC) rules(leaves []schema.Leaf) ([]southbound.Rule, error) {
	rows, err := p.Rows(leaves)
	out := make([]southbound.Rule, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.Rule)
	}
	return out, err
}

// Rows reads the rows of our table, by match. What can be read is returned beside the first error.
func (p SONiC) Rows(leaves []schema.Leaf) ([]Row, error) {
	rows := map[string]*southbound.Rule{}
	var keys []string
	var first error
	for _, l := range leaves {
		key, field, ok := cell(aclRules(), l.Path)
		name, ours := strings.CutPrefix(key, ForwardingPolicy+"|")
		if !ok || !ours {
			continue
		}
		r := rows[key]
		if r == nil {
			r = &southbound.Rule{Match: southbound.Match{Dst: southbound.AnyRack, Tag: southbound.AnyTag,
				Src: southbound.AnyRack},
				Primary: southbound.NoPort, Backup: southbound.NoPort}
			if _, b, two := strings.Cut(name, "-"); two {
				r.Backup, _ = portSuffix(b, "b")
			}
			rows[key] = r
			keys = append(keys, key)
		}
		if err := readACL(r, field, l.Value); err != nil {
			first = cmp.Or(first, fmt.Errorf("read ACL_RULE %q: %w", key, err))
			rows[key].Dst = southbound.AnyRack - 1
		}
	}
	var out []Row
	for _, key := range keys {
		switch r := rows[key]; {
		case r.Dst >= 0 && r.Primary >= 0:
			out = append(out, Row{key, *r})
		default:
			first = cmp.Or(first, fmt.Errorf("read ACL_RULE %q: it has no DST_IP or no REDIRECT_ACTION", key))
		}
	}
	slices.SortFunc(out, func(a, b Row) int { return byMatch(a.Rule, b.Rule) })
	return out, first
}

func readACL(r *southbound.Rule, field string, v schema.Value) (err error) {
	text, _ := v.(string)
	switch field {
	case "DST_IP":
		r.Dst, err = rackOf(text)
	case "SRC_IP":
		r.Src, err = rackOf(text)
	case "DSCP":
		digit, ok := strings.CutSuffix(text, "/7")
		tag, perr := strconv.ParseUint(digit, 10, 3)
		if !ok || perr != nil {
			return fmt.Errorf("DSCP %q is not a tag under the mask 7", text)
		}
		r.Tag = southbound.Tag(tag)
	case "REDIRECT_ACTION":
		r.Primary, err = portOfHop(text)
	}
	return err
}

// Seen implements Profile.
func (p SONiC) Seen(state []schema.Leaf) (southbound.Seen, error) {
	rules, err := p.rules(state)
	if err != nil {
		return southbound.Seen{}, err
	}
	seen := southbound.Seen{Rules: rules}
	for _, l := range state {
		if port, up, ok := p.operStatus(l); ok && !up {
			seen.Down = append(seen.Down, port)
		}
	}
	slices.Sort(seen.Down)
	return seen, nil
}

// PortLeaves are the state of a port.
func (p SONiC) PortLeaves(port southbound.Port, up bool) []schema.Leaf {
	state := "down"
	if up {
		state = "up"
	}
	return []schema.Leaf{{Path: row(portStates(), p.portName(port)).With("netdev_oper_status"), Value: state}}
}

func (p SONiC) operStatus(l schema.Leaf) (port southbound.Port, up, ok bool) {
	key, field, ok := cell(portStates(), l.Path)
	if !ok || field != "netdev_oper_status" {
		return 0, false, false
	}
	port, ok = p.PortNamed(key)
	return port, l.Value == "up", ok
}

// NewDecoder implements Profile.
func (p SONiC) NewDecoder() Decoder {
	return newStatusDecoder(statusDecoder{ports: p.Ports, name: p.portName, read: p.operStatus,
		port: func(g schema.Path) (southbound.Port, bool) {
			if len(g) < 3 || !portStates().Match(g) {
				return 0, false
			}
			return p.PortNamed(g[2].Key("key"))
		}})
}
