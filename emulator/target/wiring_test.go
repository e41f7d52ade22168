package target_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/wiring"
)

// wires reads a wiring of links between ports of the switch, such as "0-1" in both directions and "2>3" in one. The
// device of port 0 is d0.
func wires(t testing.TB, ports int, links ...string) *wiring.Wiring {
	t.Helper()
	var b strings.Builder
	b.WriteString("testbed: t0\nports:\n")
	for p := range ports {
		fmt.Fprintf(&b, "  d%d: {p: %d}\n", p, p)
	}
	b.WriteString("links:\n")
	for _, l := range links {
		from, to, oneWay := strings.Cut(l, ">")
		if !oneWay {
			from, to, _ = strings.Cut(l, "-")
		}
		fmt.Fprintf(&b, "  - {from: d%s p, to: d%s p, one-way: %v}\n", from, to, oneWay)
	}
	w, err := wiring.ParseFile("t0.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func crossed(pairs ...southbound.Port) *southbound.Change {
	c := &southbound.Change{}
	for i := 0; i < len(pairs); i += 2 {
		c.Connect = append(c.Connect, southbound.CrossConnect{In: pairs[i], Out: pairs[i+1]})
	}
	return c
}

// wired is a switch that testbeds are wired through.
type wired struct {
	*rig
	profile gnmi.Profile
}

func newWired(t testing.TB, profile string, ports int32, change func(*device.Config, *target.Config)) *wired {
	t.Helper()
	r := newRig(t, device.Optical, func(d *device.Config, c *target.Config) {
		c.Profile, c.Settle = profile, time.Minute
		d.Ports, d.Plane = ports, mem.New(ports, d.Clock)
		if change != nil {
			change(d, c)
		}
	})
	p, err := gnmi.Named(profile, ports, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &wired{r, p}
}

func (r *wired) open(t testing.TB) *gnmi.Session {
	t.Helper()
	cfg := r.config(t)
	cfg.Profile = r.profile
	return r.dial(t, cfg)
}

// stand makes circuits, and waits until they are lit.
func (r *wired) stand(t testing.TB, c *southbound.Change) {
	t.Helper()
	if err := r.open(t).Set(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	r.until(t, func(v wiring.View) bool {
		lit := 0
		for _, x := range v.Seen {
			if x.Status == southbound.Connected {
				lit++
			}
		}
		return lit == len(v.Configured)
	})
}

// view is what the switch is configured with, and what it shows, without gNMI.
func (r *wired) view() (v wiring.View) {
	r.door.Do(func(now time.Duration, d *device.Device) {
		v.Configured, v.Seen = d.Accepted().Connect, d.Seen(now).Connections
	})
	return v
}

func (r *wired) until(t testing.TB, want func(wiring.View) bool) {
	t.Helper()
	tick, late := time.NewTicker(ms), time.After(time.Minute)
	defer tick.Stop()
	for !want(r.view()) {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("never: %+v", r.view())
		}
	}
}

func set(all []southbound.CrossConnect) map[southbound.CrossConnect]bool {
	out := map[southbound.CrossConnect]bool{}
	for _, x := range all {
		out[x] = true
	}
	return out
}

// TestWiringOfProfiles: on a switch of any profile with random circuits, of which some are in its state only, Apply
// ends with what the slow reference wants, leaves the circuits of others as they are, and sends nothing the second
// time.
func TestWiringOfProfiles(t *testing.T) {
	t.Parallel()
	for _, profile := range target.Profiles(device.Optical) {
		for seed := range tries.Of[uint64](3, 200) {
			t.Run(fmt.Sprintf("%s %d", profile, seed), func(t *testing.T) {
				t.Parallel()
				r := newWired(t, profile, 8, nil)
				rnd := rand.New(rand.NewPCG(seed, 41))
				ins, outs, ends := rnd.Perm(8), rnd.Perm(8), rnd.Perm(8)
				first := &southbound.Change{}
				for i := range rnd.IntN(7) {
					first.Connect = append(first.Connect,
						southbound.CrossConnect{In: southbound.Port(ins[i]), Out: southbound.Port(outs[i])})
				}
				r.stand(t, first)
				if profile != "polatis" { // which shows no difference
					for _, x := range first.Connect[:len(first.Connect)/3] {
						r.door.Do(func(now time.Duration, d *device.Device) { d.Forget(now, x.In) })
					}
				}
				w := wires(t, 8, fmt.Sprintf("%d-%d", ends[0], ends[1]), fmt.Sprintf("%d>%d", ends[2], ends[3]))
				applied(t, r, w)
			})
		}
	}
}

// applied applies a wiring with --take-over, and holds the end against the reference: each circuit that was there, and
// shares no port with a wanted one nor has both in the lease, is there.
func applied(t *testing.T, r *wired, w *wiring.Wiring) {
	t.Helper()
	before := r.view()
	wanted, l := set(w.Circuits()), w.Lease("sw", "h")
	want := maps.Clone(wanted)
	seen := set(nil)
	for _, x := range before.Seen {
		seen[southbound.CrossConnect{In: x.In, Out: x.Out}] = true
	}
	for x := range seen {
		gone := l.Input(x.In) && l.Output(x.Out)
		for y := range wanted {
			gone = gone || x.In == y.In || x.Out == y.Out
		}
		if !gone {
			want[x] = true
		}
	}
	opt := wiring.Options{TakeOver: true, Settle: time.Minute, Every: 5 * ms}
	if len(before.Seen) > len(before.Configured) { // SONiC's tables have what is in the state only as about to go
		opt.Settle = 400 * ms
	}
	res, err := w.Apply(t.Context(), r.open(t), l, opt)
	if errors.Is(err, wiring.ErrForeign) && strings.Contains(err.Error(), "shares a port") { // of others, in the way
		if after := r.view(); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("refused, and touched: %v, %v", before, after)
		}
		return
	}
	if err != nil || len(res.Findings) > 0 {
		t.Fatalf("%v: %v; before %v, wanted %v, steps %v", err, res.Findings, before, w.Circuits(), res.Steps)
	}
	after := r.view()
	got := set(nil)
	for _, x := range after.Seen {
		if x.Status == southbound.Connected {
			got[southbound.CrossConnect{In: x.In, Out: x.Out}] = true
		}
	}
	if !maps.Equal(got, want) || len(after.Seen) != len(want) {
		t.Errorf("before %v, wanted %v: %v, want %v; steps %v", before, w.Circuits(), after.Seen, want, res.Steps)
	}
	for x := range wanted {
		if !slices.Contains(after.Configured, x) {
			t.Errorf("%v is not configured", x)
		}
	}
	again, err := w.Apply(t.Context(), r.open(t), l, opt)
	if err != nil || len(again.Steps) > 0 {
		t.Errorf("the second run sends %v, %v", again.Steps, err)
	}
}

// moody does something before or after a Set of a session.
type moody struct {
	*gnmi.Session
	before, after func(n int32)
	sets          atomic.Int32
}

func (m *moody) Set(ctx context.Context, c *southbound.Change) error {
	n := m.sets.Add(1)
	if m.before != nil {
		m.before(n)
	}
	err := m.Session.Set(ctx, c)
	if m.after != nil {
		m.after(n)
	}
	return err
}

// TestWiringFaults: whatever a switch does wrong, the wiring converges, or the ports and the reason are told; a circuit
// of others is never touched unasked.
func TestWiringFaults(t *testing.T) {
	t.Parallel()
	fault := func(lines ...string) func(*wired) {
		return func(r *wired) {
			for _, line := range lines {
				step, err := device.ParseStep(line)
				if err != nil {
					panic(err)
				}
				r.door.Do(step.Do)
			}
		}
	}
	restart := func(r *wired) func(int32) {
		return func(n int32) {
			if n == 1 {
				r.door.Do(func(now time.Duration, d *device.Device) { d.Restart(now, 30*ms) })
			}
		}
	}
	for name, tt := range map[string]struct {
		stands   *southbound.Change
		then     func(*wired)
		before   func(*wired) func(int32)
		after    func(*wired) func(int32)
		takeOver bool
		says     string // of the findings and the error; empty: it converges
		waits    bool   // the switch must be given up before something else is tried
		sets     int    // as many; 0: any number
		not      string // a profile for which it makes no sense
	}{
		"nothing":                {sets: 1},
		"it stands":              {stands: crossed(0, 1, 1, 0), sets: -1},
		"half a circuit":         {stands: crossed(0, 1), sets: 1},
		"state only, and wanted": {waits: true, stands: crossed(0, 1, 1, 0), then: fault("forget"), sets: 1, not: "polatis"},
		"state only, and left":   {waits: true, stands: crossed(0, 0), then: fault("forget"), not: "polatis"},
		"state only, of others": {waits: true, stands: crossed(0, 5), then: fault("forget"), says: "hold wanted ports",
			not: "polatis"},
		"state only, taken over": {waits: true, stands: crossed(0, 5), then: fault("forget"), takeOver: true,
			not: "polatis"},
		"a one-way stray":            {stands: crossed(4, 1), says: "hold wanted ports"},
		"a one-way stray taken over": {stands: crossed(4, 1), takeOver: true, sets: 1},
		"stuck":                      {waits: true, then: fault("stick port=0"), says: "d0 p ↔ d1 p 0 1 "},
		"stuck once":                 {waits: true, then: fault("stick port=0 times=1"), not: "polatis"}, // lists lit pairs
		"failed":                     {then: fault("fail port=1"), says: "d0 p ↔ d1 p 1 0 "},
		"failed once":                {then: fault("fail port=1 times=1")},
		"invalid once":               {waits: true, then: fault("spoil port=1 times=1"), not: "polatis"},
		"it lies":                    {waits: true, then: fault("lie"), says: "d0 p ↔ d1 p 0 1 "},
		"it lies once":               {waits: true, then: fault("lie times=1")},
		"it denies":                  {then: fault("deny times=1")},
		"a restart before a Set":     {before: restart},
		"a restart after a Set":      {after: restart},
		"slow":                       {then: fault("slow delay=50ms times=1")},
	} {
		for _, profile := range target.Profiles(device.Optical) {
			if profile == tt.not {
				continue
			}
			t.Run(name+", "+profile, func(t *testing.T) {
				t.Parallel()
				r := newWired(t, profile, 8, nil)
				stands := crossed(6, 7) // of others
				if tt.stands != nil {
					stands.Connect = append(stands.Connect, tt.stands.Connect...)
				}
				r.stand(t, stands)
				if tt.then != nil {
					tt.then(r)
				}
				d := &moody{Session: r.open(t)}
				if tt.before != nil {
					d.before = tt.before(r)
				}
				if tt.after != nil {
					d.after = tt.after(r)
				}
				w := wires(t, 8, "0-1")
				opt := wiring.Options{TakeOver: tt.takeOver, Settle: time.Minute, Every: 5 * ms}
				if tt.waits {
					opt.Settle = 400 * ms
				}
				res, err := w.Apply(t.Context(), d, w.Lease("sw", "h"), opt)
				said := fmt.Sprint(err, res.Findings)
				if tt.says == "" && (err != nil || len(res.Findings) > 0) || !strings.Contains(said, tt.says) {
					t.Errorf("%s; steps %v, %+v", said, res.Steps, r.view())
				}
				if n := int(d.sets.Load()); tt.sets != 0 && n != max(tt.sets, 0) {
					t.Errorf("%d Sets, want %d", n, max(tt.sets, 0))
				}
				restarted := tt.before != nil || tt.after != nil // which removes all
				if !restarted && !slices.ContainsFunc(r.view().Seen, func(x southbound.Connection) bool {
					return x.In == 6 && x.Out == 7 && x.Status == southbound.Connected
				}) {
					t.Errorf("6→7 of others is gone: %+v", r.view())
				}
			})
		}
	}
}

// wiredWell is the slow reference of Verify: each wanted circuit is configured and lit, and no other circuit, lit or
// only configured, has one of its ports.
func wiredWell(v wiring.View, wanted []southbound.CrossConnect) bool {
	configured, shown := set(v.Configured), set(nil)
	lit := set(nil)
	for _, x := range v.Seen {
		shown[southbound.CrossConnect{In: x.In, Out: x.Out}] = true
		lit[southbound.CrossConnect{In: x.In, Out: x.Out}] = x.Status == southbound.Connected
	}
	for _, x := range wanted {
		if !configured[x] || !lit[x] {
			return false
		}
		for _, others := range []map[southbound.CrossConnect]bool{configured, shown} {
			for y := range others {
				if y != x && (y.In == x.In || y.Out == x.Out) {
					return false
				}
			}
		}
	}
	return true
}

// spoilt is a switch with random circuits, some in its state only, and something that goes wrong once.
func spoilt(t *testing.T, profile string, rnd *rand.Rand) (*wired, *moody) {
	t.Helper()
	mode := []device.Recovery{device.Remove, device.Restore, device.Maintain}[rnd.IntN(3)]
	r := newWired(t, profile, 8, func(d *device.Config, _ *target.Config) { d.Recovery = mode })
	ins, outs := rnd.Perm(8), rnd.Perm(8)
	first := &southbound.Change{}
	for i := range rnd.IntN(7) {
		first.Connect = append(first.Connect, southbound.CrossConnect{In: southbound.Port(ins[i]),
			Out: southbound.Port(outs[i])})
	}
	if rnd.IntN(3) == 0 { // half of a link that is wanted
		first = crossed(0, 1)
	}
	r.stand(t, first)
	if profile != "polatis" && len(first.Connect) > 0 && rnd.IntN(3) == 0 {
		r.door.Do(func(now time.Duration, d *device.Device) { d.Forget(now, first.Connect[0].In) })
	}
	line := []string{"", "lie times=1", "deny times=1", "stick port=0 times=1", "fail port=1 times=1",
		"slow delay=20ms times=1", "restart"}[rnd.IntN(7)]
	d := &moody{Session: r.open(t)}
	if line == "restart" {
		restart := func(n int32) {
			if n == 1 {
				r.door.Do(func(now time.Duration, d *device.Device) { d.Restart(now, 20*ms) })
			}
		}
		if rnd.IntN(2) == 0 {
			d.before = restart
		} else {
			d.after = restart
		}
	} else if line != "" {
		step, err := device.ParseStep(line)
		if err != nil {
			t.Fatal(err)
		}
		r.door.Do(step.Do)
	}
	t.Logf("%s, %v, %q", mode, first.Connect, line)
	return r, d
}

// TestWiringOfRandomFaults: whatever stands, and whatever goes wrong once, on a switch of any profile: Apply says that
// all is well if and only if it is, tells ports and reasons otherwise, and within three runs all is well.
func TestWiringOfRandomFaults(t *testing.T) {
	t.Parallel()
	for _, profile := range target.Profiles(device.Optical) {
		for seed := range tries.Of[uint64](6, 200) {
			t.Run(fmt.Sprintf("%s %d", profile, seed), func(t *testing.T) {
				t.Parallel()
				rnd := rand.New(rand.NewPCG(seed, 40))
				r, d := spoilt(t, profile, rnd)
				w := wires(t, 8, "0-1", "2>3")
				opt := wiring.Options{TakeOver: true, Settle: 400 * ms, Every: 5 * ms}
				for run := 1; ; run++ {
					res, err := w.Apply(t.Context(), d, w.Lease("sw", "h"), opt)
					well := err == nil && len(res.Findings) == 0
					if is := wiredWell(r.view(), w.Circuits()); well != is {
						t.Fatalf("run %d: %v, %v; all is well: %v, %+v", run, err, res.Findings, is, r.view())
					}
					for _, f := range res.Findings {
						if f.Link == "" || f.Problem == "" {
							t.Errorf("a finding says nothing: %+v", f)
						}
					}
					blocked := errors.Is(err, wiring.ErrForeign) && strings.Contains(err.Error(), "shares a port")
					if well || blocked {
						return
					}
					if run == 3 {
						t.Fatalf("after %d runs: %v, %v; %+v", run, err, res.Findings, r.view())
					}
				}
			})
		}
	}
}

// TestWiringRenumbered: a switch whose circuits are at ports that it should not have is left alone, and why is told.
func TestWiringRenumbered(t *testing.T) {
	for _, profile := range target.Profiles(device.Optical) {
		r := newWired(t, profile, 8, nil)
		r.stand(t, crossed(0, 1, 6, 7))
		var err error
		if r.profile, err = gnmi.Named(profile, 4, 1); err != nil {
			t.Fatal(err)
		}
		w := wires(t, 4, "2-3")
		res, err := w.Apply(t.Context(), r.open(t), w.Lease("sw", "h"), wiring.Options{Settle: 20 * ms, Every: 5 * ms})
		told := err != nil && strings.Contains(err.Error(), "renumbered its ports?")
		if profile == "polatis" {
			told = err != nil || len(res.Findings) > 0 // it lists pairs that the profile does not know
		}
		if !told || len(r.view().Seen) != 2 {
			t.Errorf("%s: %v, %+v", profile, err, res)
		}
	}
}

// TestWiringLoss: a circuit that loses more light than its link allows is told, where the switch measures it.
func TestWiringLoss(t *testing.T) {
	for _, profile := range []string{"ocp", "sonic-ocs"} {
		r := newWired(t, profile, 8, nil)
		w := wires(t, 8, "0-1", "2-3")
		d, opt := r.open(t), wiring.Options{Settle: time.Minute, Every: 5 * ms}
		for i := range w.Links {
			w.Links[i].MaxLoss = 3
		}
		for _, step := range []struct {
			fault, says string
		}{{"", "[]"}, {"loss port=1 db=2", "[{d0 p ↔ d1 p 1 0 it loses 3.50 dB, more than 3.00; 1 of the link's 2 circuits " +
			"are up}]"}} {
			if step.fault != "" {
				s, err := device.ParseStep(step.fault)
				if err != nil {
					t.Fatal(err)
				}
				r.door.Do(s.Do)
			}
			res, err := w.Apply(t.Context(), d, w.Lease("sw", "h"), opt)
			if err != nil || fmt.Sprint(res.Findings) != step.says {
				t.Errorf("%s, %q: %v, %v", profile, step.fault, res.Findings, err)
			}
		}
	}
}

// large is the wiring of n links, without those that drop names.
func large(t testing.TB, n int, drop ...int) *wiring.Wiring {
	var links []string
	for i := range n {
		if !slices.Contains(drop, i) {
			links = append(links, fmt.Sprintf("%d-%d", i, 2*n-1-i))
		}
	}
	return wires(t, 2*n, links...)
}

// TestOneLinkChanged: of many links one is taken away and made again. The switch counts which ports are touched: its
// two, and no other.
func TestOneLinkChanged(t *testing.T) {
	for _, profile := range []string{"sonic-ocs", "ocp", "polatis"} {
		t.Run(profile, func(t *testing.T) {
			n := tries.Of(128, 1024)
			r := newWired(t, profile, 2*int32(n), func(_ *device.Config, c *target.Config) { c.Settle = time.Minute })
			d, opt := r.open(t), wiring.Options{Settle: time.Minute, Every: 10 * ms}
			all := large(t, n)
			l := all.Lease("sw", "h")
			apply := func(w *wiring.Wiring) int {
				t.Helper()
				res, err := w.Apply(t.Context(), d, l, opt)
				if err != nil || len(res.Findings) > 0 {
					t.Fatal(err, res.Findings)
				}
				return len(res.Steps)
			}
			apply(all)
			touched := map[southbound.Port]bool{}
			detach := r.door.Attach(device.Tap{Event: func(e southbound.DeviceEvent) {
				touched[e.In], touched[e.Out] = true, true
			}, Applied: func(device.Applied) {}}, func(time.Duration, *device.Device) {})
			first := apply(large(t, n, 7))
			r.until(t, func(v wiring.View) bool { return len(v.Seen) == 2*n-2 })
			second, third := apply(all), apply(all)
			detach()
			if want := map[southbound.Port]bool{7: true, southbound.Port(2*n - 8): true}; !maps.Equal(touched, want) {
				t.Errorf("touched %v, want %v", touched, want)
			}
			if first != 1 || second != 1 || third != 0 {
				t.Errorf("%d, %d and %d Sets", first, second, third)
			}
		})
	}
}

// BenchmarkWire: 1,024 links planned, applied and verified, on a switch that has none.
func BenchmarkWire(b *testing.B) {
	for _, profile := range []string{"sonic-ocs", "ocp", "polatis"} {
		b.Run(profile, func(b *testing.B) {
			w := large(b, 1024)
			l := w.Lease("sw", "h")
			for b.Loop() {
				b.StopTimer()
				r := newWired(b, profile, 2048, func(_ *device.Config, c *target.Config) { c.Settle = time.Minute })
				d := r.open(b)
				b.StartTimer()
				if p, err := w.Plan(b.Context(), d, l, wiring.Options{}); err != nil || len(p.Steps) != 1 {
					b.Fatal(p, err)
				}
				res, err := w.Apply(b.Context(), d, l, wiring.Options{Settle: time.Minute})
				if err != nil || len(res.Findings) > 0 {
					b.Fatal(res, err)
				}
				v, sides, err := wiring.Look(b.Context(), d)
				if f := w.Verify(v, sides); err != nil || len(f) > 0 {
					b.Fatal(f, err)
				}
			}
		})
	}
}
