package target

import (
	"cmp"
	"slices"
	"time"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// nativeFront shows a packet switch in a vendor's own model, in which configuration and state of rules
// are one: what is accepted is shown as standing. It reads its whole configuration again with every
// Set; these models hold few rules.
type nativeFront struct {
	view  nativeView
	rules map[southbound.Match]southbound.Rule // in effect
}

// nativeView is what differs between the models.
type nativeView interface {
	profile() gnmi.Profile
	// read returns the rules that a configuration puts into effect, those of one destination checked for
	// their order.
	read(config []schema.Leaf) ([]southbound.Rule, error)
	// port returns the state of a port.
	port(p southbound.Port, up bool) []schema.Leaf
	// counts returns the counters of a port.
	counts(p southbound.Port, c PortCount) []schema.Leaf
}

func newNativeFront(v nativeView) *nativeFront { return &nativeFront{view: v} }

func (f *nativeFront) model() *schema.Model { return f.view.profile().Model() }

// load implements front. A switch that already has rules shows them as the profile writes them.
func (f *nativeFront) load(t *tree, now time.Duration, dev Switch) {
	f.rules = map[southbound.Match]southbound.Rule{}
	accepted := dev.Accepted()
	if len(accepted.Rules) > 0 {
		for _, l := range written(f.view.profile(), accepted) {
			t.put(l.Path, l.Value)
		}
	}
	for _, r := range accepted.Rules {
		f.rules[r.Match] = r
	}
	down := dev.Seen(now).Down
	for i := range southbound.Port(dev.Config().Ports) {
		f.port(t, i, !slices.Contains(down, i))
	}
}

// written returns the leaves that a profile writes for a change. Rules that a device has accepted can
// be written: it has no more of them than its model takes.
func written(p gnmi.Profile, c *southbound.Change) []schema.Leaf {
	req, err := p.NewWriter(nil).Encode(c)
	if err != nil {
		return nil
	}
	var out []schema.Leaf
	for _, u := range slices.Concat(req.GetReplace(), req.GetUpdate()) {
		at, err := p.Model().FromProto(req.GetPrefix(), u.GetPath())
		if err != nil {
			return nil
		}
		leaves, err := p.Model().Decode(at, u.GetVal())
		if err != nil {
			return nil
		}
		out = append(out, leaves...)
	}
	return out
}

func (f *nativeFront) port(t *tree, p southbound.Port, up bool) {
	for _, l := range f.view.port(p, up) {
		t.put(l.Path, l.Value)
	}
}

func (f *nativeFront) event(t *tree, e southbound.DeviceEvent) {
	if e.Kind == southbound.PortUp || e.Kind == southbound.PortDown {
		f.port(t, e.In, e.Kind == southbound.PortUp)
	}
}

func (f *nativeFront) applied(*tree, device.Applied) {}

func (f *nativeFront) counters(t *tree, r reading) {
	for i, c := range r.ports {
		for _, l := range f.view.counts(southbound.Port(i), c) {
			t.put(l.Path, l.Value)
		}
	}
}

// plan implements front.
func (f *nativeFront) plan(t *tree, _ []schema.Path) (*southbound.Change, func(), error) {
	rules, err := f.view.read(t.under(nil, isConfig))
	if err != nil {
		return nil, nil, err
	}
	next, c := make(map[southbound.Match]southbound.Rule, len(rules)), &southbound.Change{}
	for _, r := range rules {
		next[r.Match] = r
		if old, stands := f.rules[r.Match]; !stands || old != r {
			c.Rules = append(c.Rules, r)
		}
	}
	for m := range f.rules {
		if _, still := next[m]; !still {
			c.Drop = append(c.Drop, m)
		}
	}
	slices.SortFunc(c.Rules, func(a, b southbound.Rule) int { return byMatch(a.Match, b.Match) })
	slices.SortFunc(c.Drop, byMatch)
	return c, func() { f.rules = next }, nil
}

func byMatch(a, b southbound.Match) int {
	return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Src, b.Src), cmp.Compare(a.Tag, b.Tag))
}

// inOrder checks numbered rules, destination by destination, and returns them by number.
func inOrder(all []numbered) ([]southbound.Rule, error) {
	slices.SortFunc(all, func(a, b numbered) int {
		return cmp.Or(cmp.Compare(a.Dst, b.Dst),
			cmp.Compare(a.seq, b.seq))
	})
	var out []southbound.Rule
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Dst == all[0].Dst {
			n++
		}
		if err := checkOrder(all[:n]); err != nil {
			return nil, err
		}
		for _, r := range all[:n] {
			out = append(out, r.Rule)
		}
		all = all[n:]
	}
	return out, nil
}
