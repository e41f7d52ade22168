// Package agreement holds real packets against the simulator: the same coflows under the same policies
// on both, with the loop closed, and in an open loop with the circuit reservations of the simulator's
// run.
package agreement

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
)

// Experiments returns the comparisons.
func Experiments() []experiment.Experiment {
	on := []string{experiment.OnNetns}
	return []experiment.Experiment{
		{Name: "agreement", Doc: "completion times and moves on packets beside the simulator's, both deciding",
			Source: "ours", Seeds: 20, On: on, Only: experiment.Beside, Run: runOf(closedLoop())},
		{Name: "agreement-open", Doc: "the same with the simulator's circuit reservations on both",
			Source: "ours", Seeds: 10, On: on, Only: experiment.Beside, Run: runOf(openLoop())},
		{Name: "agreement-stated", Doc: "by run, the error that it states of itself, what that rests on, and the true one",
			Source: "ours", Seeds: 6, On: on, Only: experiment.Beside, Run: runOf(beside())},
		{Name: "agreement-crowded", Doc: "likewise, on 32 racks of 4 hosts, idle and beside a busy core",
			Source: "ours", Seeds: 6, On: on, Only: experiment.Beside, Run: runOf(crowded())},
		{Name: "agreement-fidelity", Doc: "the same on 32 racks of 4 hosts, and through switches of six profiles",
			Source: "ours", Seeds: 3, On: on, Only: experiment.Beside, Run: runOf(fidelity())},
	}
}

// The fabrics: the small ones have the demo's racks, and all have rates that two cores carry.
const (
	largePackets  = "leafspine:racks=32,hosts=4,spines=2,eps=12.5Mbps,nic=125Mbps,slots=8"
	largeCircuits = "hybrid:racks=32,hosts=4,spines=2,eps=1Mbps,ocs=20Mbps,dark=10ms,nic=10Mbps,slots=8"
	larger        = 4   // times as many coflows as on a small one, of a quarter of the bytes
	slower        = 2.5 // times as long are windows on largeCircuits: its links have that part of the rate

	packetFabric  = "leafspine:racks=8,hosts=2,spines=2,eps=50Mbps,nic=500Mbps,slots=8"
	circuitFabric = "hybrid:racks=8,hosts=2,spines=2,eps=10Mbps,ocs=200Mbps,dark=10ms,nic=100Mbps,slots=8"
	demoScale     = 5 // of the demo's workload on them
)

// least is what a coflow takes on the simulator at least to be counted by itself: a shorter one is
// decided by what a decision takes in real time.
const least = 200 * time.Millisecond

// steering is how late hosts are told of circuits: on these fabrics they take 1.2 ms to be told, and
// the controller is late by 1.0 ms.
const steering = "steer=2ms"

// load is a workload: so many coflows within a window load the busiest port to about what the name says.
type load struct {
	name    string
	coflows int // 0: the demo's
	window  time.Duration
}

var (
	packets30  = load{"30 %", 24, 7500 * time.Millisecond}
	packets70  = load{"70 %", 60, 8 * time.Second}
	circuits30 = load{"30 %", 18, 10 * time.Second}
	circuits70 = load{"70 %", 30, 7400 * time.Millisecond}
	demo       = load{name: "demo"}
)

// setting is a policy under a load.
type setting struct {
	policy string
	load   load
	loop   loop
	beside bool // a program that keeps one core busy
	large  bool // 32 racks of 4 hosts

	profiles emulated.Profiles
}

// loop is who decides on circuits.
type loop int

const (
	closed loop = iota
	open        // both fabrics get the reservations that the policy makes on the simulator
	until       // likewise, but each lasts until all is delivered or a port is needed
)

func (s setting) circuits() bool { return strings.Count(s.policy, "+") > 1 || s.policy == "joint" }

func (s setting) String() string {
	name := s.policy + map[loop]string{open: ", open loop",
		until: ", open loop until delivered"}[s.loop] + ", " +
		s.load.name
	if s.beside {
		name += ", beside a busy core"
	}
	if s.large {
		name += ", 32 racks"
	}
	if p := s.profiles; p != (emulated.Profiles{}) {
		name += ", " + p.Packet + " and " + p.Optical
	}
	return name
}

func closedLoop() []setting {
	const sunflow, hold = "random+ecmp+sunflow", "random+ecmp+sunflow-hold"
	return []setting{{policy: "random+ecmp", load: packets30}, {policy: "random+ecmp", load: packets70},
		{policy: sunflow, load: circuits30}, {policy: sunflow, load: circuits70}, {policy: sunflow, load: demo},
		{policy: hold, load: circuits30}, {policy: hold, load: circuits70}}
}

// beside are the settings by which stated errors are judged: those of the closed loop, and some beside
// a busy core.
func beside() []setting {
	all := closedLoop()
	for _, i := range []int{1, 3, 4, 5} {
		s := all[i]
		s.beside = true
		all = append(all, s)
	}
	return all
}

// crowded are settings whose runs need most of two cores, idle and beside a busy core.
func crowded() (all []setting) {
	for _, i := range []int{1, 3} {
		s := closedLoop()[i]
		s.large = true
		all = append(all, s)
		s.beside = true
		all = append(all, s)
	}
	return all
}

// fidelity are settings of a fabric of other size, and of switches that other models program.
func fidelity() (all []setting) {
	for _, s := range closedLoop()[:4] {
		s.large = true
		all = append(all, s)
	}
	for _, p := range []emulated.Profiles{{Packet: "openconfig", Optical: "ocp"},
		{Packet: "srl-native", Optical: "sonic-ocs"}, {Packet: "sonic", Optical: "polatis"}} {
		s := closedLoop()[2]
		s.profiles = p
		all = append(all, s)
	}
	return all
}

func openLoop() []setting {
	var all []setting
	for _, policy := range []string{"random+ecmp+sunflow", "random+ecmp+edmonds",
		"random+ecmp+rotor", "joint"} {
		all = append(all, setting{policy: policy, load: circuits70, loop: open},
			setting{policy: policy, load: circuits70, loop: until})
	}
	return all
}

// fabric returns the fabric of a setting and the rate by which its coflows are sized: that of a host on
// circuits, since one host flow holds a circuit.
func (s setting) fabric() (name string, rate pathmap.BitsPerSecond) {
	switch {
	case s.circuits() && s.large:
		return largeCircuits, 10 * pathmap.Mbps
	case s.circuits():
		return circuitFabric, 100 * pathmap.Mbps
	case s.large:
		return largePackets, 50 * pathmap.Mbps / larger
	}
	return packetFabric, 50 * pathmap.Mbps
}

// jobs draws the workload.
func (s setting) jobs(seed uint64) ([]controller.Job, error) {
	if s.load.coflows == 0 {
		return workload.Synthetic(workload.SyntheticOptions{Seed: seed})
	}
	_, rate := s.fabric()
	o := workload.BareOptions{Seed: seed, Coflows: s.load.coflows, Racks: 8, HostsPerRack: 2, Link: rate,
		Window: s.load.window}
	if s.large {
		o.Coflows, o.Racks, o.HostsPerRack = larger*o.Coflows, 32, 4
		if s.circuits() {
			o.Window = time.Duration(slower * float64(o.Window))
		}
	}
	return workload.Bare(o)
}

// pair is one workload on both fabrics. Its fields are those of a run that is kept.
type pair struct {
	Seed   uint64
	Off    []float64     // by coflow of at least that time: its time on packets as a part of that on the simulator, less 1
	Mean   float64       // likewise, of the mean CCT
	Moves  [2]int        // on packets, and on the simulator
	Health report.Health // what the run states of itself
}

// run makes both runs of a setting. The simulator shares as TCP does where no policy sets rates.
func (s setting) run(ctx context.Context, seed uint64) (*pair, error) {
	jobs, err := s.jobs(seed)
	if err != nil {
		return nil, err
	}
	c := replay.Case{Options: scenario.Options{
		On: experiment.OnFlowsim, Policies: []string{s.policy}, Given: jobs, Seed: seed,
		Rules: scenario.Rules{Proportional: true},
	}}
	c.Fabric, _ = s.fabric()
	if s.circuits() {
		c.Delays = steering
	}
	if s.load.coflows == 0 {
		c.Scale = demoScale
		c.Fabric = strings.NewReplacer("10Mbps", "50Mbps", "200Mbps", "1Gbps", "100Mbps",
			"500Mbps").Replace(c.Fabric)
	}
	if s.loop != closed {
		dir, err := os.MkdirTemp("", "lightloom-agreement-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(dir)
		c.Rules.PerReservation = filepath.Join(dir, "reservations.jsonl")
		if _, err := c.Run(ctx); err != nil {
			return nil, err
		}
		if s.loop == until {
			if err := stretch(c.Rules.PerReservation); err != nil {
				return nil, err
			}
		}
		c.Policies, c.Rules.PerReservation = []string{"random+ecmp+recorded:" + c.Rules.PerReservation}, ""
	}
	fluid, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	c.On, c.Rules.Proportional, c.Delays = experiment.OnNetns, false, ""
	if s.beside {
		end, err := busyCore(ctx)
		if err != nil {
			return nil, err
		}
		defer end()
		c.Once = true
	}
	c.Profiles = s.profiles
	packets, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	return newPair(packets, fluid, seed)
}

// stretch has the reservations of a file last until one of their ports is reserved again, or a second
// longer. What is delivered gives its ports back sooner.
func stretch(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	type line struct {
		all map[string]json.RawMessage
		controller.CircuitReservation
	}
	var lines []*line
	for i, l := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
		x := new(line)
		if err := errors.Join(json.Unmarshal(l, &x.all), json.Unmarshal(l, &x.CircuitReservation)); err != nil {
			return fmt.Errorf("%s:%d: %w", file, i+1, err)
		}
		lines = append(lines, x)
	}
	var out []byte
	for _, x := range lines {
		end := x.NotAfter + time.Second
		for _, y := range lines {
			if x != y && (x.In == y.In || x.Out == y.Out) && y.NotBefore > x.NotBefore {
				end = min(end, max(y.NotBefore, x.NotAfter))
			}
		}
		x.all["not_after_ns"] = strconv.AppendInt(nil, int64(end), 10)
		l, err := json.Marshal(x.all)
		if err != nil {
			return err
		}
		out = append(append(out, l...), '\n')
	}
	return os.WriteFile(file, out, 0o600)
}

func newPair(packets, fluid *replay.Ran, seed uint64) (*pair, error) {
	p := &pair{Seed: seed, Moves: [2]int{len(packets.State.Moves), len(fluid.State.Moves)}}
	if packets.Health != nil {
		p.Health = *packets.Health
	}
	times := [2]map[string][]time.Duration{byJob(packets), byJob(fluid)}
	sums := [2]time.Duration{}
	for job, all := range times[1] {
		if len(times[0][job]) != len(all) {
			return nil, fmt.Errorf("compare packets with the simulator: of %q %d coflows ended on packets, %d there", job,
				len(times[0][job]), len(all))
		}
		for k, want := range all {
			got := times[0][job][k]
			sums[0], sums[1] = sums[0]+got, sums[1]+want
			if want >= least {
				p.Off = append(p.Off, got.Seconds()/want.Seconds()-1)
			}
		}
	}
	p.Mean = sums[0].Seconds()/sums[1].Seconds() - 1
	return p, nil
}

// byJob returns how long each job's coflows took. Two jobs that arrive together can have each other's
// numbers.
func byJob(r *replay.Ran) map[string][]time.Duration {
	out := map[string][]time.Duration{}
	for _, x := range r.Coflows {
		out[x.Name] = append(out[x.Name], x.End-x.Arrival)
	}
	return out
}

func runOf(settings []setting) func(context.Context, *experiment.Bench) (*experiment.Result, error) {
	return func(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
		all := settings
		if b.Quick {
			all = all[1:3]
		}
		each := slices.ContainsFunc(settings, func(s setting) bool { return s.beside })
		runs, err := experiment.Grid(ctx, b, all, setting.String,
			func(ctx context.Context, s setting, seed uint64) (*pair,
				error) {
				return s.run(ctx, seed)
			})
		if err != nil {
			return nil, err
		}
		out := b.Result(
			"packets: "+packetFabric, "circuits: "+circuitFabric,
			"coflows have fixed hosts, and 0.22 to 0.5 s of a port's rate for each of their one to four host flows; the "+
				"demo's are placed at random",
			fmt.Sprintf("single coflows are those of at least %v on the simulator, which shares proportionally fairly", least),
			"hosts on the simulator learn of circuits late: "+steering,
			"a load is that of the busiest port, about",
		)
		for i, s := range all {
			if each {
				s.each(runs[i], out)
			} else {
				s.rows(runs[i], out)
			}
		}
		stated(slices.Concat(runs...), out)
		return out, nil
	}
}

// rows are the figures of a setting over its seeds. What single coflows are off by is of all seeds together.
func (s setting) rows(runs []*pair, out *experiment.Result) {
	var off, means, moves []float64
	fluid, stolen := 0.0, 0.0
	for _, p := range runs {
		for _, x := range p.Off {
			off = append(off, 100*math.Abs(x))
		}
		means = append(means, 100*p.Mean)
		fluid += float64(p.Moves[1]) / float64(len(runs))
		stolen = max(stolen, p.Health.StolenCores)
	}
	h := out.At(offBy, s.String(), "")
	within := func(r *experiment.Row) {
		if r.Low != nil {
			r.Note = fmt.Sprintf("within %.1f %%", max(math.Abs(*r.Low), math.Abs(*r.High)))
		}
	}
	within(h.Row("mean CCT", "%", 0, means))
	if fluid > 0 {
		for _, p := range runs {
			moves = append(moves, 100*float64(p.Moves[0]-p.Moves[1])/fluid)
		}
		within(h.Row("circuits moved", "%", 0, moves))
	}
	slices.Sort(off)
	note := fmt.Sprintf("%d coflows; others took %.2f cores at most", len(off), stolen)
	for _, at := range []struct {
		name string
		p    float64
	}{{"coflow, median", 0.5}, {"coflow, 95 of 100", 0.95}} {
		if len(off) > 0 {
			out.Add(experiment.Row{Figure: offBy, Setting: s.String(), Metric: at.name, Unit: "%", N: len(runs),
				Measured: experiment.Number(report.Percentile(off, at.p)), Verdict: experiment.NoClaim, Note: note})
		}
	}
}

// offBy is the figure of by how much packets differ from the simulator.
const offBy = "packets ÷ simulator − 1"
