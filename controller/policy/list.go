package policy

import (
	"lightloom/controller/anneal"
	"lightloom/controller/policy/joint"
	"lightloom/controller/policy/light"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
)

// Question is what a part answers.
type Question uint8

// The questions, in the order in which parts are asked.
const (
	Place Question = iota
	Light
	Route
	Share
	questions
)

func (q Question) String() string { return [...]string{"place", "light", "route", "share"}[q] }

// PartInfo describes one part of the list.
type PartInfo struct {
	Name      string
	Questions []Question // one; more for a joint part
	Doc       string
	Simulated bool // its rules are those of a simulator's steps of time: only ours has them
	Blind     bool // it reads nothing of what coflows have left
	Waves     bool // it gives a rack as many circuits as it has wavelengths, not one
	Relays    bool // it wants racks that keep bytes for each other: see Relaying
}

// entry is one line of the list. make returns fresh parts, one for each of the questions.
type entry struct {
	PartInfo
	make func() []Part
}

// list is the one visible list of parts. A new part is one file and one line here.
func list() []entry {
	steps := func(name, doc string, make func() Part) entry {
		return entry{PartInfo{Name: name, Questions: []Question{Share}, Doc: doc, Simulated: true}, func() []Part { return []Part{make()} }}
	}
	one := func(name string, q Question, doc string, make func() Part) entry {
		return entry{PartInfo{Name: name, Questions: []Question{q}, Doc: doc}, func() []Part { return []Part{make()} }}
	}
	blind := func(e entry) entry {
		e.Blind = true
		return e
	}
	relays := func(e entry) entry {
		e.Relays = true
		return e
	}
	waves := func(e entry) entry {
		e.Waves = true
		return e
	}
	return []entry{
		blind(one("random", Place, "each task on a slot drawn uniformly from the free ones", func() Part { return place.Random{} })),
		blind(one("fair", Place, "equal shares of slots for users, maps near their blocks (delay scheduling); whole jobs on the least loaded hosts", func() Part { return new(place.Fair) })),
		one("corral", Place, "fair, but maps, reduces and input of a recurring job on the same few racks (Corral)", func() Part { return new(place.Corral) }),
		one("coscheduler", Place, "fair, but tasks of shuffle-heavy jobs where their shuffle makes elephants (Co-scheduler)", func() Part { return new(place.CoScheduler) }),
		one("coscheduler-patient", Place, "coscheduler that never leaves its guidelines for an idle slot", func() Part { return &place.CoScheduler{Patient: true} }),
		waves(one("sunflow", Light, "circuits for elephants, shortest coflow first, not all stop", func() Part { return light.Sunflow{}.Remembering() })),
		waves(one("sunflow-preempt", Light, "sunflow, but a shorter coflow takes begun circuits of longer ones", func() Part { return light.Sunflow{Preempt: true}.Remembering() })),
		waves(one("sunflow-turning", Light, "sunflow, the longest pairs first and turning like a rotor on crossbars too", func() Part { return light.Sunflow{Order: light.Turning}.Remembering() })),
		one("solstice", Light, "port schedules of few long slots, an epoch at a time; packets carry the rest", func() Part { return light.Solstice() }),
		one("eclipse", Light, "port schedules of the slots that carry most for their time, an epoch at a time", func() Part { return light.Eclipse() }),
		one("bvn", Light, "port schedules by Birkhoff and von Neumann's decomposition, an epoch at a time", func() Part { return light.BvN() }),
		one("edmonds", Light, "the matching of the most demand, slot by slot, as c-Through and Helios", func() Part { return light.Edmonds() }),
		one("edmonds-backlog", Light, "edmonds that knows of each bundle what its socket holds, as c-Through", func() Part { return light.Edmonds().FromBacklog() }),
		one("rotor", Light, "all matchings in turn, whatever the demand, as RotorNet without detours", func() Part { return light.Rotor() }),
		relays(blind(one("rotor-vlb", Light, "rotor on racks that keep bytes for each other, as RotorNet with detours over a third rack", func() Part { return light.RotorVLB{} }))),
		one("static", Light, "one matching, for the first demand, an hour long", func() Part { return light.Static{} }),
		blind(one("shortest", Route, "the packet network's default path", func() Part { return route.Shortest{} })),
		blind(one("ecmp", Route, "a seeded hash over the equal-cost shortest paths", func() Part { return route.ECMP{} })),
		one("anneal", Route, "paths by simulated annealing, all new coflows together", func() Part { return &route.Annealed{} }),
		one("anneal-paper", Route, "anneal as its document prints it", func() Part { return &route.Annealed{Options: anneal.Options{Paper: true}} }),
		one("anypath", Route, "a path drawn uniformly from all that the map has, long ones too", func() Part { return route.AnyPath{} }),
		blind(one("tcp", Share, "no rates: hosts share by themselves", func() Part { return new(share.TCP) })),
		blind(one("maxmin", Share, "the max-min fair rate of every bundle, set by the policy", func() Part { return new(share.MaxMin) })),
		one("fifo", Share, "the coflow that arrived first gets what it needs to end at once, then the next", func() Part { return share.NewFIFO() }),
		one("scf", Share, "fifo, but the coflow of the smallest largest bundle first", func() Part { return share.NewSCF() }),
		one("ncf", Share, "fifo, but the coflow of fewest bundles first", func() Part { return share.NewNCF() }),
		one("lcf", Share, "fifo, but the coflow of fewest bytes left first", func() Part { return share.NewLCF() }),
		one("sebf", Share, "Varys: fifo, but the coflow of the smallest bottleneck first", func() Part { return share.NewSEBF() }),
		one("sebf-deadline", Share, "Varys with deadlines: coflows that fit are promised theirs, the others go by sebf", func() Part { return share.NewDeadline() }),
		one("bssi", Share, "Sincronia: fifo, but from the last backwards by weight for what the bottleneck carries", func() Part { return share.NewBSSI() }),
		one("dclas", Share, "Aalo: by bytes sent so far in ten queues, in order of arrival within one", func() Part { return share.NewDCLAS() }),
		blind(one("fairport", Share, "an equal part of each port for every bundle that takes it", func() Part { return new(share.Fair) })),
		one("coflowsim-fair", Share, "fairport, set again at the end of every bundle, as coflowsim's FAIR", func() Part { return &share.Fair{Always: true} }),
		steps("coflowsim-fifo", "fifo by the rules of coflowsim, the simulator of Varys", func() Part { return share.NewCoflowsim("fifo") }),
		steps("coflowsim-scf", "scf by the rules of coflowsim", func() Part { return share.NewCoflowsim("scf") }),
		steps("coflowsim-ncf", "ncf by the rules of coflowsim", func() Part { return share.NewCoflowsim("ncf") }),
		steps("coflowsim-lcf", "lcf by the rules of coflowsim", func() Part { return share.NewCoflowsim("lcf") }),
		steps("coflowsim-sebf", "sebf by the rules of coflowsim", func() Part { return share.NewCoflowsim("sebf") }),
		steps("coflowsim-pfp", "smallest flow first at each receiver, as coflowsim's PFP", func() Part { return share.NewCoflowsimPFP() }),
		steps("coflowsim-dclas", "dclas by the rules of coflowsim's DARK", func() Part { return new(share.CoflowsimDark) }),
		cross("crosslayer", "places and routes together by annealing at two levels", anneal.Options{}),
		cross("application", "the upper level of crosslayer alone: places by annealing, for paths drawn at random", anneal.Options{Blind: true}),
		cross("application-paper", "application as its document prints it", anneal.Options{Blind: true, Paper: true}),
		{PartInfo{Name: "joint", Questions: []Question{Place, Light, Route}, Doc: "places, lights and routes together: crosslayer whose annealer may also choose circuits, dark ones too"}, func() []Part {
			p, l, r := joint.NewJoint(anneal.Options{})
			return []Part{p, l, r}
		}},
		cross("crosslayer-paper", "crosslayer as its document prints it", anneal.Options{Paper: true}),
	}
}

// cross is an entry of two faces, place and route.
func cross(name, doc string, opt anneal.Options) entry {
	return entry{PartInfo{Name: name, Questions: []Question{Place, Route}, Doc: doc}, func() []Part {
		p, r := joint.NewCrossLayer(opt)
		return []Part{p, r}
	}}
}

// presets are the policies that users meet first: each name is a + list of parts, or stands for one (fair alone is the
// share of ports, as the field calls it, and not the placement, which is fair anyway). The rest is left at its default.
func presets() []Info {
	return []Info{
		{Name: "random+ecmp", Doc: "random slots, hashed paths, no circuits"},
		{Name: "random+ecmp+maxmin", Doc: "random slots, hashed paths, rates set by the policy, no circuits"},
		{Name: "random+ecmp+sunflow", Doc: "random slots, hashed paths, circuits for elephants"},
		{Name: "fair", Of: "fairport", Doc: "an equal part of each port for every bundle, default placement and paths, no circuits"},
		{Name: "random+anypath", Doc: "random slots, random paths: what cross-layer scheduling is measured against"},
		{Name: "application", Doc: "slots annealed, random paths: cross-layer scheduling's upper level alone"},
		{Name: "random+anneal", Doc: "random slots, paths annealed: cross-layer scheduling's lower level alone"},
		{Name: "crosslayer", Doc: "slots and paths annealed together, no circuits"},
		{Name: "crosslayer+sunflow", Doc: "slots and paths annealed together, circuits for elephants"},
	}
}

// defaults are the parts taken for a question that a name leaves open: packets only, the shortest path, fair sharing.
func defaults() [questions]string {
	return [questions]string{Place: "fair", Light: "", Route: "shortest", Share: "tcp"}
}
