package gnmi

import (
	"cmp"
	"slices"
	"strconv"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// ruleWriter encodes changes of rules. The objects that rules depend on are sent with the first change
// of a session, and a group with the first change that names it: the writer need not know what the
// device holds. A change that replaces everything, and the first after the device has been read back,
// send their groups again, because another client may have changed them.
type ruleWriter struct {
	p     OpenConfig
	model *schema.Model
	based bool // the device has what rules stand on
	basis bool // the last request held it
	made  map[hops]bool
	named []hops // groups of the last request
	bare  bool   // no rule stood on the device when it was last read
}

// hops are the ports of a group: primary and backup.
type hops [2]southbound.Port

// NewWriter implements Profile.
func (p OpenConfig) NewWriter([]schema.Leaf) Writer {
	return &ruleWriter{p: p, model: p.Model(), made: map[hops]bool{}}
}

// Accepted implements Writer.
func (w *ruleWriter) Accepted() {
	w.based = w.based || w.basis
	for _, g := range w.named {
		w.made[g] = true
	}
}

// Reread implements Rereader.
func (w *ruleWriter) Reread() bool {
	w.based = false
	clear(w.made)
	return true
}

// Encode implements Writer. Rules go out in the order of their sequence-ids. A change that replaces
// everything replaces the whole forwarding policy entry; groups that nothing names any more stay, and
// do nothing.
func (w *ruleWriter) Encode(c *southbound.Change) (*gpb.SetRequest, error) {
	req := &gpb.SetRequest{}
	w.basis, w.named = false, nil
	if c.Empty() {
		return req, nil
	}
	if err := w.p.check(c); err != nil {
		return nil, err
	}
	for _, m := range c.Drop {
		if !c.Replace && !slices.ContainsFunc(c.Rules, func(r southbound.Rule) bool { return r.Match == m }) {
			req.Delete = append(req.Delete, rulePath(w.p.Sequence(m)).Proto())
		}
	}
	rules := slices.Clone(c.Rules)
	slices.SortFunc(rules, func(a, b southbound.Rule) int {
		return cmp.Compare(w.p.Sequence(a.Match), w.p.Sequence(b.Match))
	})
	var err error
	add := func(list *[]*gpb.Update, at schema.Path, leaves []schema.Leaf) {
		u, e := entry(w.model, at, leaves)
		err = cmp.Or(err, e)
		*list = append(*list, u)
	}
	w.addBase(req, add)
	for _, g := range groupsOf(rules) {
		if c.Replace || !w.made[g] {
			w.named = append(w.named, g)
			add(&req.Replace, groupPath(GroupName(g[0], g[1])), w.p.GroupLeaves(g[0], g[1]))
		}
	}
	switch {
	case c.Replace:
		add(&req.Replace, policyPath(), w.p.BaseLeaves()[:2])
		w.appendRules(req.Replace[len(req.Replace)-1], rules)
	case len(rules) > manyRules:
		if !w.bare {
			req.Delete = append(req.Delete, w.p.rulePaths(rules)...)
		}
		add(&req.Update, policyPath(), w.p.BaseLeaves()[:2])
		w.appendRules(req.Update[len(req.Update)-1], rules)
	default:
		for _, r := range rules {
			add(&req.Replace, rulePath(w.p.Sequence(r.Match)), w.p.RuleLeaves(r, false))
		}
	}
	return req, err
}

// rulePaths returns the paths of rules, which share what is above them.
func (p OpenConfig) rulePaths(rules []southbound.Rule) []*gpb.Path {
	above := policyPath().With("rules").Proto().Elem
	out := make([]*gpb.Path, len(rules))
	for i, r := range rules {
		rule := &gpb.PathElem{Name: "rule", Key: map[string]string{"sequence-id": p.sequence(r.Match)}}
		out[i] = &gpb.Path{Elem: append(slices.Clip(above), rule)}
	}
	return out
}

// appendRules adds rules to the value of the forwarding policy, whose other members come before "rules". It writes what
// entry would make of their leaves: a large fabric has a hundred thousand rules, and each would be twenty objects.
func (w *ruleWriter) appendRules(policy *gpb.Update, rules []southbound.Rule) {
	v := policy.GetVal().GetJsonIetfVal()
	if len(rules) == 0 || len(v) == 0 {
		return
	}
	b := slices.Grow(v[:len(v)-1], 208*len(rules)) // with a tag 185 to 197 bytes each, with a source 31 more
	b = append(b, `,"rules":{"rule":[`...)
	for i, r := range rules {
		if i > 0 {
			b = append(b, ',')
		}
		b = w.p.appendRule(b, r)
	}
	policy.Val = schema.JSONText(append(b, "]}}"...), gpb.Encoding_JSON_IETF)
}

// appendRule appends the configuration of one rule, names sorted.
func (p OpenConfig) appendRule(b []byte, r southbound.Rule) []byte {
	seq := p.sequence(r.Match)
	b = append(append(b, `{"action":{"config":{"next-hop-group":"`...), GroupName(r.Primary, r.Backup)...)
	b = append(append(b, `"}},"config":{"sequence-id":`...), seq...)
	b = append(b, `},"ipv4":{"config":{"destination-address":"`...)
	b = append(southbound.RackPrefix(r.Dst).AppendTo(b), '"')
	if r.Tag != southbound.AnyTag {
		b = append(b, `,"dscp-set":[`...)
		for i, v := range dscpSet(r.Tag) {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendUint(b, v.(uint64), 10)
		}
		b = append(b, ']')
	}
	if r.Src != southbound.AnyRack {
		b = append(southbound.RackPrefix(r.Src).AppendTo(append(b, `,"source-address":"`...)), '"')
	}
	return append(append(append(b, `}},"sequence-id":`...), seq...), '}')
}

// sequence is Sequence as a key has it.
func (p OpenConfig) sequence(m southbound.Match) string {
	return strconv.FormatUint(uint64(p.Sequence(m)), 10)
}

// manyRules is how many rules are replaced one by one. More go as one value, which takes both ends less time where the
// device has none of them. It is an update, so that other rules stay. Its rules are deleted before it in the same
// transaction, so that nothing stays that another client has put into one. A path to delete need not exist (gNMI
// specification, 3.4.6). Where the device had no rule at all when it was last read, and no change has been sent since,
// none is deleted, if it refuses older leaders. The read that follows each programming finds what another client has
// put in meanwhile, but for leaves that our model does not know in a rule that we write: they stay until that is
// replaced.
const manyRules = 64

// addBase adds, once a session, what rules stand on. The forwarding policy comes as an update, so that
// its rules stay.
func (w *ruleWriter) addBase(req *gpb.SetRequest, add func(*[]*gpb.Update, schema.Path, []schema.Leaf)) {
	if w.based {
		return
	}
	w.basis = true
	base := w.p.BaseLeaves()
	for i := range southbound.Port(w.p.Ports) {
		for _, pref := range []uint64{PrimaryPreference, BackupPreference} {
			add(&req.Replace, hopPath(hopIndex(i, pref)), base)
		}
	}
	add(&req.Update, policyPath(), base)
	for i := range southbound.Port(w.p.Ports) {
		add(&req.Update, applyPath(i), base)
	}
}

// groupsOf returns the groups that rules name, sorted.
func groupsOf(rules []southbound.Rule) []hops {
	out := make([]hops, 0, len(rules))
	for _, r := range rules {
		out = append(out, hops{r.Primary, r.Backup})
	}
	slices.SortFunc(out, func(a, b hops) int {
		return cmp.Or(cmp.Compare(a[0], b[0]),
			cmp.Compare(a[1], b[1]))
	})
	return slices.Compact(out)
}

// check finds what the device could not tell from the request, or would take in another meaning.
func (p OpenConfig) check(c *southbound.Change) error {
	if len(c.Connect) > 0 {
		return refused("encode change: a packet switch takes no cross-connects")
	}
	if p.Ports > MaxPorts || p.Racks > MaxSequenceRacks {
		return refused("encode change: the openconfig profile names at most %d ports and %d racks", MaxPorts,
			MaxSequenceRacks)
	}
	port := func(x southbound.Port) bool { return x >= 0 && int32(x) < p.Ports }
	seen := make(map[southbound.Match]bool, len(c.Rules))
	for _, r := range c.Rules {
		switch {
		case !p.matchOK(r.Match):
			return refused("encode rule %+v: racks are 0 to %d, tags 0 to %d", r.Match, p.Racks-1,
				southbound.Tags-1)
		case !port(r.Primary) || r.Backup != southbound.NoPort && !port(r.Backup):
			return refused("encode rule %+v: ports %d and %d: ports are 0 to %d", r.Match, r.Primary,
				r.Backup, p.Ports-1)
		case seen[r.Match]:
			return refused("encode rule %+v: it is given twice", r.Match)
		}
		seen[r.Match] = true
	}
	for _, m := range c.Drop {
		if !p.matchOK(m) {
			return refused("encode drop %+v: racks are 0 to %d, tags 0 to %d", m, p.Racks-1, southbound.Tags-1)
		}
	}
	return nil
}

func (p OpenConfig) matchOK(m southbound.Match) bool {
	rack := func(r southbound.RackID) bool { return r >= 0 && int32(r) < p.Racks }
	return rack(m.Dst) && (m.Src == southbound.AnyRack || rack(m.Src)) &&
		(m.Tag < southbound.Tags || m.Tag == southbound.AnyTag)
}
