package target_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// ruleKeeper is keeper for a packet switch.
type ruleKeeper struct {
	s      *gnmi.Session
	wanted []southbound.Rule
	said   []error
}

func (k *ruleKeeper) step(ctx context.Context) error {
	seen, err := k.s.Read(ctx)
	if err != nil {
		return err
	}
	if slices.Equal(seen.Rules, k.wanted) {
		return nil
	}
	if err := k.s.Set(ctx, &southbound.Change{Replace: true, Rules: k.wanted}); err != nil {
		k.said = append(k.said, err)
	}
	return fmt.Errorf("seen %+v", seen.Rules)
}

func (k *ruleKeeper) converge(t *testing.T) {
	t.Helper()
	tick, late := time.NewTicker(5*ms), time.After(time.Minute)
	defer tick.Stop()
	for {
		err := k.step(t.Context())
		if err == nil {
			return
		}
		select {
		case <-late:
			t.Fatalf("it never became %+v: %v (Set said %v)", k.wanted, err, k.said)
		case <-tick.C:
		}
	}
}

// TestRuleReconciliation: whatever befalls a packet switch, what it has in effect becomes what is
// wanted, through driver and target, in each of the models.
func TestRuleReconciliation(t *testing.T) {
	t.Parallel()
	cold := func(r device.Recovery) func(*device.Config) { return func(d *device.Config) { d.Recovery = r } }
	plain := func(*device.Config) {}
	restart := func(t *testing.T, r *rig, k *ruleKeeper) {
		k.converge(t)
		r.door.Do(func(now time.Duration, d *device.Device) { d.Restart(now, 20*ms) })
	}
	fault := func(f device.Fault) func(*testing.T, *rig, *ruleKeeper) {
		return func(t *testing.T, r *rig, k *ruleKeeper) {
			r.door.Do(func(_ time.Duration, d *device.Device) { d.Fault(f) })
		}
	}
	match := func(dst southbound.RackID, tag southbound.Tag) southbound.Match {
		return southbound.Match{Dst: dst, Tag: tag, Src: southbound.AnyRack}
	}
	byHand := func(t *testing.T, r *rig, k *ruleKeeper, req *gpb.SetRequest) { // and in effect
		if _, err := r.raw(t).Set(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		r.await(t, func(s southbound.Seen) bool { return !slices.Equal(s.Rules, k.wanted) })
	}
	const only = "it is written in openconfig's words"
	for _, tt := range []struct {
		name   string
		change func(*device.Config)
		befall func(*testing.T, *rig, *ruleKeeper)
		says   bool   // a Set must have been answered with an error
		others string // why the other models are left out
	}{
		{"cold boot, remove", cold(device.Remove), restart, false, ""},
		{"cold boot, restore", cold(device.Restore), restart, false, ""},
		{"cold boot, maintain", cold(device.Maintain), restart, false, ""},
		{"lost session", plain, func(t *testing.T, r *rig, k *ruleKeeper) {
			k.converge(t)
			r.stop()
			r.door.Do(func(now time.Duration, d *device.Device) { d.Restart(now, 20*ms) }) // it has forgotten all
			r.serve(t)
		}, false, ""},
		{"a rule of another client", plain, func(t *testing.T, r *rig, k *ruleKeeper) {
			k.converge(t)
			byHand(t, r, k, &gpb.SetRequest{Update: []*gpb.Update{upd(t, ruleNine, nine("10.0.7.0/24", "p2-b3"))}})
		}, false, only},
		{"a group that was rewritten", plain, func(t *testing.T, r *rig, k *ruleKeeper) {
			k.converge(t)
			const group = instance + "/static/next-hop-groups/next-hop-group[name=p2-b3]"
			byHand(t, r, k, &gpb.SetRequest{Replace: []*gpb.Update{upd(t, group,
				`{"config":{"name":"p2-b3"},"next-hops":{"next-hop":[{"index":"p5","config":{"index":"p5"}}]}}`)}})
		}, false, only},
		{"a next hop that was rewritten", plain, func(t *testing.T, r *rig, k *ruleKeeper) {
			k.converge(t)
			byHand(t, r, k, &gpb.SetRequest{Update: []*gpb.Update{upd(t, instance+
				"/static/next-hops/next-hop[index=p2]/config/next-hop", `"169.254.0.6"`)}})
		}, false, only},
		{"applied and denied", plain, fault(device.Fault{Kind: device.Deny, Times: 2}), true, ""},
		{"accepted and not applied", plain, fault(device.Fault{Kind: device.Lie, Times: 2}), false,
			"rules have no state beside their configuration: it cannot be read"},
		{"slow", plain, fault(device.Fault{Kind: device.Slow, Delay: 30 * ms, Times: 1}), false, ""},
	} {
		for _, p := range []gnmi.Profile{gnmi.OpenConfig{Ports: 8, Racks: 8},
			gnmi.SRLinux{Ports: 8, Racks: 8, ControllerBackup: true}, gnmi.SONiC{Ports: 8, Racks: 8,
				ControllerBackup: true}} {
			t.Run(tt.name+", "+p.Name(), func(t *testing.T) {
				if _, ok := p.(gnmi.OpenConfig); !ok && tt.others != "" {
					t.Skip(tt.others)
				}
				r := newRig(t, device.Packet, func(d *device.Config, c *target.Config) {
					tt.change(d)
					c.Profile = p.Name()
				})
				cfg := r.config(t)
				cfg.Profile = p
				k := &ruleKeeper{s: r.dial(t, cfg), wanted: []southbound.Rule{
					{Match: match(1, 7), Primary: 2, Backup: 3}, {Match: match(1, southbound.AnyTag),
						Primary: 0, Backup: 1},
					{Match: match(4, southbound.AnyTag), Primary: 1, Backup: southbound.NoPort}}}
				tt.befall(t, r, k)
				k.converge(t)
				if tt.says && len(k.said) == 0 {
					t.Error("no Set was answered with an error")
				}
				r.await(t, func(s southbound.Seen) bool { return slices.Equal(s.Rules, k.wanted) })
			})
		}
	}
}

// TestTableAsOneValue: one Set of many rules puts them in effect as they are wanted, whatever another client has put
// into one of them that cannot be read back, since the forwarding policy is not applied.
func TestTableAsOneValue(t *testing.T) {
	t.Parallel()
	r := newRig(t, device.Packet, func(d *device.Config, _ *target.Config) { d.Racks = 64 })
	cfg := r.config(t)
	p := gnmi.OpenConfig{Ports: 8, Racks: 64}
	cfg.Profile = p
	wanted := tor(64)
	slices.SortFunc(wanted, func(a, b southbound.Rule) int { return device.CompareMatch(a.Match, b.Match) })
	place := func(tag southbound.Tag) int {
		return slices.IndexFunc(wanted, func(r southbound.Rule) bool { return r.Match.Tag == tag })
	}
	first := place(southbound.AnyTag)
	s, other := r.dial(t, cfg), r.raw(t)
	if err := r.dial(t, cfg).Set(t.Context(), &southbound.Change{Rules: wanted[first : first+1]}); err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []struct {
		tag        southbound.Tag // of the rule
		leaf, text string
	}{
		{southbound.AnyTag, "dscp-set", "[7,15,23,31,39,47,55,63]"}, // would match the same as the rule of tag 7
		{1, "source-address", `"10.0.5.0/24"`},                      // would be taken
	} {
		leaf := fmt.Sprintf("%s/rules/rule[sequence-id=%d]/ipv4/config/%s", policy,
			p.Sequence(wanted[place(foreign.tag)].Match), foreign.leaf)
		if _, err := other.Set(t.Context(), &gpb.SetRequest{
			Delete: []*gpb.Path{pathOf(t, instance+"/policy-forwarding/interfaces")},
			Update: []*gpb.Update{upd(t, leaf, foreign.text)}}); err != nil {
			t.Fatal(err)
		}
		r.await(t, func(s southbound.Seen) bool { return len(s.Rules) == 0 })
		if seen, err := s.Read(t.Context()); err != nil || len(seen.Rules) > 0 {
			t.Fatalf("%d rules are in effect, %v", len(seen.Rules), err)
		}
		if err := s.Set(t.Context(), &southbound.Change{Rules: wanted}); err != nil {
			t.Fatal(err)
		}
		r.await(t, func(s southbound.Seen) bool { return slices.Equal(s.Rules, wanted) })
	}
}
