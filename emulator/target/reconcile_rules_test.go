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

// TestTableAsOneValue: a table that is sent as one value becomes what is in effect, also where another client has put
// more into one of its rules, and so does the next.
func TestTableAsOneValue(t *testing.T) {
	t.Parallel()
	r := newRig(t, device.Packet, func(d *device.Config, _ *target.Config) { d.Racks = 64 })
	cfg := r.config(t)
	cfg.Profile = r.profile(64)
	wanted := tor(64)
	slices.SortFunc(wanted, func(a, b southbound.Rule) int { return device.CompareMatch(a.Match, b.Match) })
	if err := r.dial(t, cfg).Set(t.Context(), &southbound.Change{Rules: wanted[:1]}); err != nil {
		t.Fatal(err)
	}
	rule := fmt.Sprintf("%s/policy-forwarding/policies/policy[policy-id=lightloom]/rules/rule[sequence-id=%d]", instance,
		gnmi.OpenConfig{Ports: 8, Racks: 64}.Sequence(wanted[0].Match))
	if _, err := r.raw(t).Set(t.Context(), &gpb.SetRequest{Update: []*gpb.Update{
		upd(t, rule+"/ipv4/config/source-address", `"10.0.5.0/24"`)}}); err != nil {
		t.Fatal(err)
	}
	s := r.dial(t, cfg)
	for range 2 {
		for tries := 0; ; tries++ {
			seen, err := s.Read(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			c := &southbound.Change{}
			for _, x := range wanted {
				if !slices.Contains(seen.Rules, x) {
					c.Rules = append(c.Rules, x)
				}
			}
			for _, x := range seen.Rules {
				if !slices.ContainsFunc(wanted, func(w southbound.Rule) bool { return w.Match == x.Match }) {
					c.Drop = append(c.Drop, x.Match)
				}
			}
			if c.Empty() {
				break
			}
			if tries == 5 {
				t.Fatalf("%d rules differ still", len(c.Rules))
			}
			if err := s.Set(t.Context(), c); err != nil {
				t.Fatal(err)
			}
		}
		r.await(t, func(s southbound.Seen) bool { return slices.Equal(s.Rules, wanted) })
		for i := range wanted {
			wanted[i].Primary = (wanted[i].Primary + 1) % 4
		}
	}
}
