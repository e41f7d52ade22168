package report

import (
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// sample makes results of the shape a demo has: five rows, forty jobs, circuits in two of the rows.
func sample(seed uint64) *Report {
	names := []string{"random+ecmp", "random+ecmp+sunflow", "crosslayer", "crosslayer+sunflow",
		"random+ecmp+capacity"}
	var results []PolicyResult
	for i, name := range names {
		results = append(results, sampleResult(rand.New(rand.NewPCG(seed, uint64(i))), i, name))
	}
	rep := Summarise(Meta{
		Version: "v0.1.0", Title: "demo", Seed: seed,
		Workload: Workload{Source: "synthetic", Jobs: 40, Coflows: 40, Flows: 412, BytesTotal: 232_000_000,
			BytesTrace: 232_000_000,
			Scale:      1, Speedup: 1, ElephantThreshold: 11_250_000, Arrivals: 3.9},
		Fabric: Fabric{Kind: "hybrid", Spec: "hybrid:racks=8,hosts=2,spines=2,nic=500Mbps,eps=50Mbps,ocs=1Gbps,dark=10ms",
			On:        "netns",
			Dataplane: "mirred", Privilege: "user", Racks: 8, Hosts: 16, Spines: 2, OCSPorts: 8, NIC: 500e6, EPS: 50e6, OCS: 1e9,
			Congestion: "cubic", MTU: 1500, QueueBytes: 65536, Queues: "64 kB up to 100 Mb/s, else 5 ms of the link's rate"},
		Controller: Controller{Replicas: 3, Log: "raft"},
		Notes:      []string{"There is no propagation delay: this kernel has no netem."},
	}, results)
	for _, against := range names[:3] {
		rep.Seeds = append(rep.Seeds, Compare("crosslayer+sunflow", against, "mean CCT", []float64{1, 2, 3},
			[]float64{2, 3, 4}, seed),
			Compare("crosslayer+sunflow", against, "makespan", []float64{1, 2, 3}, []float64{2, 1, 4}, seed))
	}
	return rep
}

func sampleResult(r *rand.Rand, row int, name string) PolicyResult {
	speed := []float64{1, .55, .8, .45, .5}[row]
	p := PolicyResult{Name: name, Work: Work{Decisions: 300},
		MoveTimes: MoveTimes{ReconfigurationDelayAssumed: 15 * time.Millisecond,
			DarkAsked: 10 * time.Millisecond}}
	for i := range 40 {
		at := time.Duration(i) * 100 * time.Millisecond
		took := time.Duration(float64(20*time.Millisecond) * speed * (1 +
			300*r.Float64()*r.Float64()*r.Float64()*r.Float64()))
		name := fmt.Sprintf("%03d-coflow", i)
		p.Jobs = append(p.Jobs, JobResult{ID: controller.JobID(i), Name: name, Arrival: at, Start: at,
			End: at + took +
				30*time.Millisecond})
		p.Coflows = append(p.Coflows, CoflowResult{ID: southbound.CoflowID(i),
			Job: controller.JobID(i), Name: name,
			Arrival: at, Start: at,
			End: at + took, Bytes: 5_800_000, Local: 100_000, Rack: 50_000, HostFlows: 4, Flows: 10})
	}
	p.EPS = 226_000_000
	if row == 1 || row == 3 {
		p.circuits(r)
	}
	if row >= 2 && row <= 3 {
		p.Anneal = Anneal{Place: controller.MoveCounts{Evaluated: 12000, Accepted: 900},
			Route: controller.MoveCounts{Evaluated: 40000, Accepted: 5100}}
	}
	return p
}

func (p *PolicyResult) circuits(r *rand.Rand) {
	p.OCS, p.EPS = 150_000_000, 76_000_000
	p.DarkSource, p.Moved = "device", new(Moved)
	for in := range southbound.Port(8) {
		for t := time.Duration(r.IntN(800)) * time.Millisecond; t < 5*time.Second; {
			out := (in + 1 + southbound.Port(r.IntN(7))) % 8
			inService := t + time.Duration(12+r.IntN(5))*time.Millisecond
			end := inService + time.Duration(100+r.IntN(600))*time.Millisecond
			c := CircuitInterval{In: in, Out: out, Coflow: southbound.CoflowID(r.IntN(40)), Moving: t,
				InService: inService, End: end}
			p.Circuits = append(p.Circuits, c)
			p.Moved.Circuit(c)
			p.Moved.ReconfigurationDelays.Add(inService - t)
			if len(p.Circuits) <= 3 {
				p.Moved.Stage("commit").Add(inService - t)
			}
			dark := 10*time.Millisecond + time.Duration(r.IntN(90))*time.Microsecond
			p.Moved.Darks.Add(dark)
			p.Moved.Stage("dark").Add(dark)
			t = end + time.Duration(r.IntN(900))*time.Millisecond
		}
	}
	p.DroppedDark, p.Retransmissions = 3, 214
}
