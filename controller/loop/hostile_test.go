package loop_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// TestHostileInputs: no answer of a device, an agent or a caller, however odd, stops Step, and the
// state accepts every entry that results.
func TestHostileInputs(t *testing.T) {
	for seed := range tries.Of[uint64](60, 2000) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { hostile(t, seed) })
	}
}

func hostile(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 67))
	w, err := newWorld("hybrid:racks=3,hosts=2,spines=2,eps=1Gbps,ocs=10Gbps,dark=10ms,slots=2")
	if err != nil {
		t.Fatal(err)
	}
	fleeting := &greedy{r: r}
	l := loop.New(w.fabric, loop.Config{Policy: fleeting, Paths: w.paths, Seed: seed,
		Delta:             15 * time.Millisecond,
		ElephantThreshold: 1, Patience: 20 * time.Millisecond, Verify: seed%2 == 0,
		Rollout: rollout.Options{Drain: time.Millisecond, Timeout: 50 * time.Millisecond,
			Retry: 5 * time.Millisecond}})
	n := func() int32 { return [...]int32{-1 << 31, -2, -1, 0, 1, 2, 3, 5, 6, 7, 64, 1<<31 - 1}[r.IntN(12)] }
	errs := []error{nil, nil, nil, southbound.ErrRefused, southbound.ErrNotLeader, southbound.ErrUnsupported,
		errors.New("lost")}
	var open []rollout.Set
	now := time.Duration(0)
	moves := 0
	defer func() { t.Logf("%d circuits were asked for", moves) }()
	for step := range 150 {
		now += time.Duration(r.IntN(4)) * time.Millisecond
		var in loop.Inputs
		if step%15 == 0 {
			in.Jobs = append(in.Jobs, controller.Offer{Request: fmt.Sprint(step), Job: &controller.Job{Name: "j",
				Edges: []controller.Edge{{Flows: []controller.Flow{{Src: southbound.HostID(r.IntN(6)),
					Dst: southbound.HostID(r.IntN(6)), Bytes: pathmap.Bytes(1 + r.IntN(100))}}}}}})
		}
		devices := l.Base().Devices()
		for range r.IntN(5) {
			d := devices[r.IntN(len(devices))]
			switch r.IntN(6) {
			case 0:
				in.Events = append(in.Events, southbound.Event{At: time.Duration(n()),
					Kind: southbound.EventKind(r.IntN(7)),
					HostFlowKey: southbound.HostFlowKey{Coflow: southbound.CoflowID(n()),
						Row: n()}, Task: southbound.TaskID(n()),
					Try: n(), Host: southbound.HostID(n())})
			case 1, 2:
				in.Devices = append(in.Devices, southbound.DeviceEvent{At: time.Duration(n()), Device: d,
					Kind: southbound.DeviceEventKind(r.IntN(8)), In: southbound.Port(n()), Out: southbound.Port(n()),
					Status: southbound.Status(r.IntN(9))})
			case 3:
				s := loop.DeviceSeen{Device: d, Err: errs[r.IntN(len(errs))]}
				for range r.IntN(4) {
					s.Seen.Connections = append(s.Seen.Connections, southbound.Connection{In: southbound.Port(n()),
						Out: southbound.Port(n()), Status: southbound.Status(r.IntN(9))})
					s.Seen.Rules = append(s.Seen.Rules,
						southbound.Rule{Match: southbound.Match{Dst: southbound.RackID(n()),
							Tag: southbound.Tag(n()), Src: southbound.RackID(n())}, Primary: southbound.Port(n()),
							Backup: southbound.Port(n())})
					s.Seen.Down = append(s.Seen.Down, southbound.Port(n()))
				}
				in.Seen = append(in.Seen, s)
			case 4:
				in.Done = append(in.Done, loop.SetDone{Device: d, Token: r.Uint64N(50),
					Err: errs[r.IntN(len(errs))]})
			case 5:
				in.Counts = append(in.Counts, loop.DeviceCounts{Device: southbound.DeviceID(n()),
					Anew: r.IntN(2) == 0,
					Ports: []southbound.PortCounters{{Port: southbound.Port(n()), At: time.Duration(n()),
						InOctets: r.Uint64()}}})
			}
		}
		for _, s := range open {
			in.Done = append(in.Done, loop.SetDone{Device: s.Device, Token: s.Token, Err: errs[r.IntN(len(errs))]})
		}
		open = nil
		for pass := 0; ; pass++ {
			entries, act, wake := l.Step(w.state, now, in)
			if err := w.state.ApplyAll(entries); err != nil {
				t.Fatalf("step %d: %v", step, err)
			}
			open = append(append(open, act.Urgent...), act.Sets...)
			for _, s := range act.Sets {
				moves += len(s.Change.Connect)
			}
			in = loop.Inputs{}
			if wake != now {
				break
			}
			if pass > 100 {
				t.Fatalf("step %d: it asks to be called again and again", step)
			}
		}
	}
}

// greedy places everything anywhere and reserves a circuit at an instant, whether its ports have light
// or not.
type greedy struct {
	r    *rand.Rand
	last time.Duration
}

func (greedy) Wants() controller.KindSet { return ^controller.KindSet(0) }

func (greedy) Capabilities() controller.Capabilities { return controller.Capabilities{Circuits: true} }

func (g *greedy) Decide(v *controller.View, _ []controller.Event) *controller.Plan {
	p := &controller.Plan{Wake: southbound.Never}
	for _, j := range v.Waiting {
		p.Place = append(p.Place, controller.Placement{Job: j.ID, Hosts: make([]southbound.HostID, j.Tasks())})
	}
	used := map[southbound.Port]bool{}
	for _, r := range v.Reserved {
		used[r.In], used[r.Out+100] = true, true
	}
	for i := range v.Coflows {
		c := &v.Coflows[i]
		if g.last == v.Now || len(c.Src) == 0 {
			continue
		}
		in, out := southbound.Port(v.HostRack(c.Src[0])), southbound.Port(v.HostRack(c.Dst[0]))
		if c.Started && !c.Ended[0] && in != out && !used[in] && !used[out+100] {
			g.last = v.Now
			p.Reserve = append(p.Reserve, controller.CircuitReservation{In: in, Out: out, NotBefore: v.Now,
				NotAfter: v.Now + time.Duration(1+g.r.IntN(60))*time.Millisecond, Coflow: c.ID})
		}
	}
	return p
}
