package up

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/emulator/fault"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// failoverOptions are the options of measureFailover.
type failoverOptions struct {
	Fabric   string
	Policy   string
	Seed     uint64
	Failures int // links that fail, one after the other
	Flows    int // host flows that are under way meanwhile
	Replicas int
}

// failover is the result of one failed link. Times count from the failure.
type failover struct {
	Link    string        `json:"link"`
	Gap     time.Duration `json:"gap_ns"`    // until the first packet arrived on another path
	Lost    int           `json:"lost"`      // probes until then
	Tables  time.Duration `json:"tables_ns"` // until the last table changed for it was effective
	Changed int           `json:"changed"`   // tables changed for it

	Repeated int `json:"repeated"` // failures before it that were not counted: the prober was kept from its processor
}

const (
	// probeEvery is the time between two probes: a gap is known to within one of them.
	probeEvery = 500 * time.Microsecond
	// heldAtMost is how long no probe may be sent in a gap that counts.
	heldAtMost = 2 * time.Millisecond
	// heldTries is how often a failure is tried until one counts: others may build programs for half a minute.
	heldTries = 60
)

// failoverEnv holds the options for the process inside.
const failoverEnv = "LIGHTLOOM_TEST_FAILOVER"

// measureFailover builds a fabric of real packets with that many host flows under way. It then fails one link after
// another that a probe stream crosses where no switch has a backup, so that only the controller can restore the path.
// It returns one result a failure.
func measureFailover(t *testing.T, opt failoverOptions) (all []failover, err error) {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Fabric: opt.Fabric, Policies: []string{opt.Policy},
		Seed: opt.Seed, Coflows: 1, Replicas: opt.Replicas, On: scenario.OnNetns, Speedup: 1}, 1)
	if err != nil {
		return nil, err
	}
	o := emulated.ChildConfig{Scenario: *s.Scenario(s.Rows[0]), Hold: true}
	o.Jobs = nil
	text, err := json.Marshal(opt)
	if err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	t.Setenv(failoverEnv, string(text))
	err = errors.Join(emulated.InNamespaces(t.Context(), o, emulated.Options{Stderr: os.Stderr}, w,
		func(*emulated.Event) {}), w.Close())
	for d := json.NewDecoder(r); err == nil; {
		var f failover
		if end := d.Decode(&f); errors.Is(end, io.EOF) {
			return all, nil
		} else if end != nil {
			return nil, end
		}
		all = append(all, f)
	}
	return all, err
}

// failing is the fabric whose links fail.
type failing struct{ *emulated.Testbed }

// failLinks is the part of measureFailover in the process inside.
func failLinks(ctx context.Context, t *emulated.Testbed, results *os.File) error {
	defer results.Close()
	s := failing{t}
	var m failoverOptions
	if err := json.Unmarshal([]byte(os.Getenv(failoverEnv)), &m); err != nil {
		return err
	}
	if err := s.underWay(ctx, m.Flows); err != nil {
		return err
	}
	s.Start(ctx)
	defer s.End()
	s.OnTables(s.Faults.Applied)
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2) // the prober's two threads take no processor from what is measured
	for n := range m.Failures {
		r, err := s.failUndisturbed(ctx, n)
		if err != nil {
			return fmt.Errorf("failure %d: %w", n, err)
		}
		if err := json.NewEncoder(results).Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// failUndisturbed repeats failOnce until the prober was not kept from its processor meanwhile.
func (s failing) failUndisturbed(ctx context.Context, n int) (*failover, error) {
	for try := range heldTries {
		r, held, err := s.failOnce(ctx, n)
		if err != nil {
			return nil, err
		}
		if held <= heldAtMost {
			r.Repeated = try
			return r, nil
		}
	}
	return nil, fmt.Errorf("the prober was kept from its processor for more than %v in each of %d failures: the machine "+
		"is too busy", heldAtMost, heldTries)
}

// underWay starts host flows that outlast the measurement, from every host to hosts of other racks, some pairs twice if
// necessary, and waits until their bytes arrive.
func (s failing) underWay(ctx context.Context, flows int) error {
	f := s.Topo
	var all []controller.Flow
	for k := 1; k < f.Hosts(); k++ {
		for h := range f.Hosts() {
			to := (h + k) % f.Hosts()
			if f.RackOf(int32(h)) != f.RackOf(int32(to)) {
				all = append(all, controller.Flow{Src: southbound.HostID(h), Dst: southbound.HostID(to),
					Bytes: 1 << 40})
			}
		}
	}
	if len(all) == 0 {
		return errors.New("measure failover: the fabric has one rack")
	}
	for n := 0; n < flows; n += len(all) {
		j := controller.Job{Name: fmt.Sprint("background-", n),
			Edges: []controller.Edge{{Flows: all[:min(len(all), flows-n)]}}}
		if _, err := s.Client.Submit(ctx, j.Name, []*controller.Job{&j}); err != nil {
			return fmt.Errorf("measure failover: %w", err)
		}
	}
	return s.until(ctx, 30*time.Second, func() bool {
		return s.Packets.Agent.Status().LiveHostFlows >= int64(flows) &&
			s.Packets.Agent.Stats().BytesReceived > 0
	})
}

// until polls for a condition that no event announces.
func (s failing) until(ctx context.Context, most time.Duration, ok func() bool) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	end := time.NewTimer(most)
	defer end.Stop()
	for !ok() {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-end.C:
			return fmt.Errorf("waited %v in vain", most)
		case <-tick.C:
		}
	}
	return nil
}

// failOnce measures the failure of the n-th link, going round the pairs of racks. held is how long no probe was sent
// before the first that arrived.
func (s failing) failOnce(ctx context.Context, n int) (r *failover, held time.Duration, err error) {
	src, dst, l, err := s.victim(n)
	if err != nil {
		return nil, 0, err
	}
	name := s.Faults.Names.Cable(l)
	p, err := newProbe(s.Testbed, src, dst)
	if err != nil {
		return nil, 0, err
	}
	defer p.close()
	if err := s.until(ctx, 5*time.Second, func() bool { return p.seen() > 50 }); err != nil {
		return nil, 0, fmt.Errorf("probe from host %d to host %d: %w", src, dst, err)
	}
	from := s.Now()
	link := fault.Event{Fault: fault.Fault{Kind: fault.Link, Name: name}}
	if _, err := s.Faults.Inject(ctx, s.Testbed, link); err != nil {
		return nil, 0, err
	}
	if err := s.until(ctx, 10*time.Second, func() bool { return p.since(from, 100) }); err != nil {
		return nil, 0, fmt.Errorf("no packet came over another path after %s failed: %w", name, err)
	}
	if err := s.rest(ctx, 300*time.Millisecond); err != nil {
		return nil, 0, err
	}
	r = &failover{Link: name}
	r.Gap, r.Lost = p.gap(from)
	held = p.held(from, from+r.Gap)
	var last time.Duration
	if r.Changed, last = s.Faults.TablesSince(from); r.Changed > 0 {
		r.Tables = last - from
	}
	link.Heal = true
	if _, err := s.Faults.Inject(ctx, s.Testbed, link); err != nil {
		return nil, 0, err
	}
	return r, held, s.rest(ctx, 500*time.Millisecond)
}

// rest lets the controller finish its work, so that the next failure finds it idle.
func (s failing) rest(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// victim returns two hosts of different racks, and the cable into the destination's ToR that untagged packets cross on
// their way. The switch before it has no other cable there.
func (s failing) victim(n int) (src, dst southbound.HostID, l pathmap.LinkID, err error) {
	f := s.Topo
	pairs := f.Racks * (f.Racks - 1)
	for k := range pairs {
		at := (n + k) % pairs
		a, b := at/(f.Racks-1), at%(f.Racks-1)
		if b >= a {
			b++
		}
		if l := s.lastHop(southbound.RackID(a), southbound.RackID(b)); l != pathmap.None {
			return southbound.HostID(f.FirstHost[a]), southbound.HostID(f.FirstHost[b]), l &^ 1, nil
		}
	}
	return 0, 0, 0, errors.New("no two racks have a switch between them")
}

// lastHop follows the switches' rules from one rack to another and returns the last link, if there is more than one.
func (s failing) lastHop(a, b southbound.RackID) pathmap.LinkID {
	t := s.Topo.Topology
	at, last := s.Topo.ToRNode[a], pathmap.LinkID(pathmap.None)
	for hops := 0; at != s.Topo.ToRNode[b]; hops++ {
		port := s.ruleFor(at, a, b)
		l := t.OutPort(at, int32(port))
		if port == southbound.NoPort || l == pathmap.None || hops > len(t.Nodes()) {
			return pathmap.None
		}
		last, at = l, t.Link(l).To
	}
	if last == pathmap.None || t.Link(last).From == s.Topo.ToRNode[a] {
		return pathmap.None
	}
	return last
}

// ruleFor returns the port by which a switch sends untagged packets from one rack to another.
func (s failing) ruleFor(at pathmap.NodeID, a, b southbound.RackID) southbound.Port {
	seen, err := s.Packets.Switches[at].Door.Read(context.Background())
	if err != nil {
		return southbound.NoPort
	}
	rank := func(r southbound.Rule) int {
		switch {
		case r.Dst != b || r.Src != southbound.AnyRack && r.Src != a || r.Tag != southbound.AnyTag &&
			r.Tag != southbound.TagDefault:
			return 0
		case r.Src == a:
			return 3 + int(southbound.AnyTag) - int(r.Tag)
		case r.Tag == southbound.TagDefault:
			return 2
		}
		return 1
	}
	best := slices.MaxFunc(append(seen.Rules, southbound.Rule{Match: southbound.Match{Dst: -1},
		Primary: southbound.NoPort}),
		func(x, y southbound.Rule) int { return cmp.Compare(rank(x), rank(y)) })
	if rank(best) == 0 {
		return southbound.NoPort
	}
	return best.Primary
}
