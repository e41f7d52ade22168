package gnmi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// srlBackup begins the description of a rule that has a backup; the port's number follows.
const srlBackup = "backup "

// srlWriter encodes changes of a forwarding policy's rules. It knows which number each of them has.
type srlWriter struct {
	p            SRLinux
	model        *schema.Model
	have, wanted map[uint32][]southbound.Rule
	err          error // the configuration could not be read
	based, basis bool
}

// NewWriter implements Profile.
func (p SRLinux) NewWriter(config []schema.Leaf) Writer {
	w := &srlWriter{p: p, model: p.Model()}
	w.have, w.err = p.Rules(config)
	w.wanted = w.have
	return w
}

// Accepted implements Writer.
func (w *srlWriter) Accepted() { w.have, w.based = w.wanted, w.based || w.basis }

// Reread implements Rereader: rules may have other numbers now, and the forwarding policy may have lost its
// subinterfaces.
func (w *srlWriter) Reread() bool { return false }

// Encode implements Writer. A forwarding policy that cannot be read is taken as foreign: only a change
// that replaces it is encoded.
func (w *srlWriter) Encode(c *southbound.Change) (*gpb.SetRequest, error) {
	req := &gpb.SetRequest{}
	w.basis, w.wanted = false, w.have
	if c.Empty() {
		return req, nil
	}
	if err := w.p.openConfig().check(c); err != nil {
		return nil, err
	}
	if err := noBackups(w.p.Name(), c.Rules); err != nil && !w.p.ControllerBackup {
		return nil, err
	}
	if w.err != nil && !c.Replace {
		return nil, refused("encode change: policy %q: %w", ForwardingPolicy, w.err)
	}
	next, err := number(w.have, c)
	if err != nil {
		return nil, err
	}
	w.wanted = next
	w.basis = !w.based && len(next) > 0
	return req, w.encode(req, next, c)
}

func (w *srlWriter) encode(req *gpb.SetRequest, next map[uint32][]southbound.Rule,
	c *southbound.Change) (err error) {
	add := func(list *[]*gpb.Update, at schema.Path, leaves []schema.Leaf) {
		u, e := entry(w.model, at, leaves)
		err = cmp.Or(err, e)
		*list = append(*list, u)
	}
	policy := w.p.policy()
	kind := schema.Leaf{Path: policy.With("type"), Value: "pbr-policy"}
	switch {
	case c.Replace && len(next) == 0:
		req.Delete = append(req.Delete, w.model.Proto(policy))
		for i := range southbound.Port(w.p.Ports) { // a forwarding policy that is applied cannot go
			req.Delete = append(req.Delete, w.model.Proto(w.p.applyPath(i)))
		}
		w.based, w.basis = false, false
		return err
	case c.Replace:
		all := []schema.Leaf{kind}
		for _, seq := range sortedSequences(next) {
			all = append(all, w.p.ruleLeaves(seq, next[seq])...)
		}
		add(&req.Replace, policy, all)
	default:
		for _, seq := range sortedSequences(w.have) {
			if _, still := next[seq]; !still {
				req.Delete = append(req.Delete, w.model.Proto(w.p.rulePath(seq)))
			}
		}
		if w.basis {
			add(&req.Update, policy, []schema.Leaf{kind})
		}
		for _, seq := range sortedSequences(next) {
			named := slices.ContainsFunc(c.Rules, func(n southbound.Rule) bool { return slices.Contains(next[seq], n) })
			if named || !slices.Equal(w.have[seq], next[seq]) {
				add(&req.Replace, w.p.rulePath(seq), w.p.ruleLeaves(seq, next[seq]))
			}
		}
	}
	if w.basis {
		for i := range southbound.Port(w.p.Ports) {
			at := w.p.applyPath(i)
			add(&req.Update, at, []schema.Leaf{{Path: at.With("apply-forwarding-policy"),
				Value: ForwardingPolicy}})
		}
	}
	return err
}

func (p SRLinux) applyPath(port southbound.Port) schema.Path {
	return p.instance().With("policy-forwarding").Entry("interface", "subinterface", p.Subinterface(port))
}

// ruleLeaves are those of one rule of the policy, which is as many of ours as it has tags.
func (p SRLinux) ruleLeaves(seq uint32, rules []southbound.Rule) []schema.Leaf {
	at, r := p.rulePath(seq), rules[0]
	out := []schema.Leaf{{Path: at.With("sequence-id"), Value: uint64(seq)}}
	if r.Backup != southbound.NoPort {
		out = append(out, schema.Leaf{Path: at.With("description"),
			Value: fmt.Sprintf("%s%d", srlBackup, r.Backup)})
	}
	ipv4 := at.With("match", "ipv4")
	if r.Src != southbound.AnyRack {
		out = append(out, schema.Leaf{Path: ipv4.With("source-ip", "prefix"),
			Value: southbound.RackPrefix(r.Src).String()})
	}
	out = append(out, schema.Leaf{Path: ipv4.With("destination-ip", "prefix"),
		Value: southbound.RackPrefix(r.Dst).
			String()})
	if r.Tag != southbound.AnyTag {
		var tags []southbound.Tag
		for _, one := range rules {
			tags = append(tags, one.Tag)
		}
		out = append(out, schema.Leaf{Path: ipv4.With("dscp-set"), Value: dscpSet(tags...)})
	}
	return append(out, schema.Leaf{Path: at.With("action", "next-hop"), Value: NextHop(r.Primary).String()})
}

// pack joins rules that differ in their tags alone, each sorted by tag; the most specific come first.
func pack(rules []southbound.Rule) [][]southbound.Rule {
	rules = slices.Clone(rules)
	slices.SortFunc(rules, bySpecificity)
	at, out := map[southbound.Rule]int{}, [][]southbound.Rule(nil)
	for _, r := range rules {
		k := sameBut(r)
		i, known := at[k]
		if !known {
			i, out = len(out), append(out, nil)
			at[k] = i
		}
		out[i] = append(out[i], r)
	}
	return out
}

// sameBut is a rule without the tag that it matches, if it matches one.
func sameBut(r southbound.Rule) southbound.Rule {
	if r.Tag != southbound.AnyTag {
		r.Tag = 0
	}
	return r
}

// number returns the rules after a change, joined, by sequence-id from 1. What stays keeps its number,
// a rule that changes its next hop or some of its tags too; what is new gets one between the rules that
// are more specific and those that are less. Where there is none left in between, all are numbered
// anew.
func number(have map[uint32][]southbound.Rule, c *southbound.Change) (map[uint32][]southbound.Rule, error) {
	table, stood := ruleTable{}, map[southbound.Match]uint32{}
	for seq, rules := range have {
		for _, r := range rules {
			table[r.Match], stood[r.Match] = r, seq
		}
	}
	rules := table.after(c).sorted()
	groups := pack(rules)
	if len(groups) > schema.SRLRules {
		return nil, refused("encode change: %d rules are %d once those of one destination and next hop are joined, and a "+
			"policy of SR Linux holds %d: use fewer racks or tags", len(rules), len(groups), schema.SRLRules)
	}
	next := map[uint32][]southbound.Rule{}
	keep := func(group []southbound.Rule, as func(was southbound.Rule) bool) bool {
		for _, r := range group {
			if seq, ok := stood[r.Match]; ok && next[seq] == nil && as(have[seq][0]) {
				next[seq] = group
				return true
			}
		}
		return false
	}
	// Those whose next hop stays choose their number first.
	changed := slices.DeleteFunc(slices.Clone(groups), func(g []southbound.Rule) bool {
		return keep(g, func(was southbound.Rule) bool { return sameBut(was) == sameBut(g[0]) })
	})
	fresh := slices.DeleteFunc(changed, func(g []southbound.Rule) bool {
		return keep(g, func(southbound.Rule) bool { return true })
	})
	for _, g := range fresh {
		seq, ok := between(next, g[0])
		if !ok {
			return renumber(groups), nil
		}
		next[seq] = g
	}
	return next, nil
}

// between returns a free number for a rule: the middle of what its specificity leaves, so that others
// find room later.
func between(next map[uint32][]southbound.Rule, r southbound.Rule) (uint32, bool) {
	lo, hi := uint32(1), uint32(schema.SRLRules)
	s := specificity(r.Match)
	for seq, o := range next {
		switch t := specificity(o[0].Match); {
		case t < s:
			lo = max(lo, seq+1)
		case t > s:
			hi = min(hi, seq-1)
		}
	}
	want := uint32(1 + s*schema.SRLRules/4) // each of the four kinds of rules has a quarter, until another needs it
	best, found := uint32(0), false
	for seq := lo; seq <= hi; seq++ {
		if _, taken := next[seq]; !taken && (!found || distanceTo(seq, want) < distanceTo(best, want)) {
			best, found = seq, true
		}
	}
	return best, found
}

func distanceTo(a, b uint32) uint32 {
	if a < b {
		return b - a
	}
	return a - b
}

// renumber numbers rules anew, from the most specific to the least. What is free lies between the kinds
// of rules, where the next ones will be looking for room.
func renumber(groups [][]southbound.Rule) map[uint32][]southbound.Rule {
	out, gaps := make(map[uint32][]southbound.Rule, len(groups)), 0
	changes := func(i int) bool {
		return i > 0 &&
			specificity(groups[i-1][0].Match) != specificity(groups[i][0].Match)
	}
	for i := range groups {
		if changes(i) {
			gaps++
		}
	}
	seq, free := uint32(0), schema.SRLRules-len(groups)
	for i, g := range groups {
		if changes(i) {
			seq += uint32(free / gaps)
		}
		seq++
		out[seq] = g
	}
	return out
}

func bySpecificity(a, b southbound.Rule) int {
	return cmp.Or(cmp.Compare(specificity(a.Match), specificity(b.Match)), byMatch(a, b))
}

func sortedSequences[T any](m map[uint32]T) []uint32 {
	return slices.Sorted(maps.Keys(m))
}
