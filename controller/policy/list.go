package policy

import (
	"math/rand/v2"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/certified"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/joint"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
)

// Question is what a part answers.
type Question uint8

// The questions, in the order in which parts are asked.
const (
	Place Question = iota
	Circuits
	Route
	Share
	questions
)

func (q Question) String() string { return [...]string{"place", "circuits", "route", "share"}[q] }

// PartInfo describes one part of the list.
type PartInfo struct {
	Name      string
	Questions []Question // one; more for a joint part
	Doc       string
	controller.Capabilities
}

// entry is one line of the list. make returns fresh parts, one for each of the questions.
type entry struct {
	PartInfo
	make func(Options) []Part
}

// list is the one visible list of parts. A new part is one file and one line here.
func list() []entry {
	one := func(name string, q Question, doc string, make func() Part) entry {
		return entry{PartInfo{name, []Question{q}, doc, controller.Capabilities{Circuits: q == Circuits}},
			func(Options) []Part { return []Part{make()} }}
	}
	steps := func(name, doc string, make func() Part) entry {
		e := one(name, Share, doc, make)
		e.Simulated = true
		return e
	}
	blind := func(e entry) entry {
		e.Blind = true
		return e
	}
	totals := func(e entry) entry {
		e.Totals = true
		return e
	}
	relays := func(e entry) entry {
		e.Relays = true
		return e
	}
	waves := func(e entry) entry {
		e.Wavelengths = true
		return e
	}
	return append([]entry{
		blind(one("random", Place, "each task on a slot drawn uniformly from the free ones", func() Part {
			return place.Random{}
		})),
		blind(one("packed", Place, "each job into as few racks as it can, and there onto the hosts with the most free slots",
			func() Part {
				return place.Packed{}
			})),
		blind(one("fair", Place, "equal shares of slots for users, maps near their blocks (delay scheduling); whole jobs "+
			"on the least loaded hosts", func() Part {
			return new(place.Fair)
		})),
		one("corral", Place, "fair, but maps, reduces and input of a recurring job on the same few racks (Corral)",
			func() Part {
				return new(place.Corral)
			}),
		dawn("dawn", "tasks where what they read lies together, and what others will read, by the load between racks (Dawn)",
			place.Dawn{}),
		dawn("dawn-strict", "dawn that leaves slots free which no stage prefers", place.Dawn{Strict: true}),
		dawn("dawn-alone", "dawn that knows nothing of the jobs that read from others", place.Dawn{Alone: true}),
		packed("hadoop", "the job with the fewest running tasks of its user takes the next slot, maps near their blocks "+
			"(Hadoop's Fair Scheduler with delay scheduling)", pushbox.Hadoop, nil),
		packed("hadoop-fifo", "hadoop, but a user's jobs in order of arrival", pushbox.Hadoop, place.AllFIFO),
		packed("shufflewatcher", "hadoop, but maps go first where a network card is busy (ShuffleWatcher)",
			pushbox.ShuffleWatcher, nil),
		packed("shufflewatcher-fifo", "shufflewatcher, but a user's jobs in order of arrival", pushbox.ShuffleWatcher,
			place.AllFIFO),
		packed("neat", "each task where its coflow is predicted to end first, smallest coflow first (NEAT)",
			pushbox.NEAT, nil),
		packed("neat-fifo", "neat, but a user's jobs in order of arrival", pushbox.NEAT, place.AllFIFO),
		one("coscheduler", Place, "fair, but tasks of shuffle-heavy jobs where their shuffle makes elephants (Co-scheduler)",
			func() Part {
				return new(place.CoScheduler)
			}),
		one("coscheduler-strict", Place, "coscheduler that never leaves its guidelines for an idle slot", func() Part {
			return &place.CoScheduler{Strict: true}
		}),
		placing("tapra", "tasks with loads and their vCPUs for the earliest end of the job, with a proven gap (TaPRA)", tapra,
			false),
		placing("tapra-fast", "tapra by local search alone (TaPRA-fast)", tapraFast, false),
		placing("ontapra", "tapra, always the job that can end first (OnTaPRA)", tapra, true),
		placing("minmin", "tasks with loads by Min-Min, with vCPUs and limits as tapra has them", minMin, false),
		placing("mm-ga", "minmin improved by a genetic algorithm", certified.MMGA, false),
		placing("gsa", "tasks with loads by genetic simulated annealing", certified.GSA, false),
		waves(one("sunflow", Circuits, "circuits for elephants, shortest coflow first, not all stop", func() Part {
			return circuits.Sunflow{}.Remembering()
		})),
		waves(one("sunflow-preempt", Circuits, "sunflow, but a shorter coflow takes begun circuits of longer ones",
			func() Part {
				return circuits.Sunflow{Preempt: true}.Remembering()
			})),
		waves(one("sunflow-turning", Circuits, "sunflow, the longest pairs first and turning like a rotor on crossbars too",
			func() Part {
				return circuits.Sunflow{Order: circuits.Turning}.Remembering()
			})),
		waves(one("sunflow-every", Circuits, "sunflow for each pair of racks of a coflow, without an elephant threshold",
			func() Part {
				return circuits.Sunflow{Every: true}.Remembering()
			})),
		waves(one("sunflow-hold", Circuits, "sunflow, but what is to take a circuit sends nothing over packets before",
			func() Part {
				return circuits.Sunflow{Fallback: controller.Hold}.Remembering()
			})),
		one("solstice", Circuits, "port schedules of few long slots, an epoch at a time; packets carry the rest",
			func() Part {
				return circuits.Solstice()
			}),
		one("eclipse", Circuits, "port schedules of the slots that carry most for their time, an epoch at a time",
			func() Part {
				return circuits.Eclipse()
			}),
		one("bvn", Circuits, "port schedules by Birkhoff and von Neumann's decomposition, an epoch at a time", func() Part {
			return circuits.BvN()
		}),
		edmonds("edmonds", "the matching of the most demand, slot by slot, as c-Through and Helios", circuits.Edmonds()),
		edmonds("edmonds-backlog", "edmonds that knows of each host flow what its socket holds, as c-Through",
			circuits.Edmonds().FromBacklog()),
		one("rotor", Circuits, "all matchings in turn, whatever the demand, as RotorNet without detours", func() Part {
			return circuits.Rotor()
		}),
		relays(blind(one("rotor-vlb", Circuits, "rotor on racks that keep bytes for each other, as RotorNet with detours "+
			"over "+
			"a third rack", func() Part {
			return circuits.RotorVLB{}
		}))),
		one("static", Circuits, "one matching, for the first demand, an hour long", func() Part { return circuits.Static{} }),
		blind(one("shortest", Route, "the packet network's default path", func() Part { return route.Shortest{} })),
		blind(one("ecmp", Route, "a seeded hash over the equal-cost shortest paths", func() Part { return route.ECMP{} })),
		one("wcmp", Route, "ecmp by weights: a path's available bandwidth", func() Part { return route.WCMP{} }),
		proven("froba", "paths for the least sum of transfer times, with a proven gap (FRoBA)", certified.FRoBABest,
			false),
		proven("froba-fast", "froba by local search alone (FRoBA-fast)", certified.FRoBAGreedy, false),
		proven("corba", "paths by which a coflow's last host flow ends earliest, with a proven gap (CoRBA)",
			certified.CoRBABest, true),
		proven("corba-fast", "corba by local search alone (CoRBA-fast)", certified.CoRBAGreedy, true),
		proven("mincct-s", "RAPIER's MinimizeCCT over 5 shortest paths", route.MinCCT(certified.ShortestPaths, 5), true),
		proven("mincct-m", "RAPIER's MinimizeCCT over 5 widest paths", route.MinCCT(certified.WidestPaths, 5), true),
		proven("mincct-sm", "RAPIER's MinimizeCCT over 5 paths, the shortest and of these the widest",
			route.MinCCT(certified.ShortestWidestPaths, 5), true),
		annealed("anneal", "paths by simulated annealing, all new coflows together", anneal.Options{}),
		annealed("anneal-paper", "anneal as its document prints it", anneal.Options{Paper: true}),
		one("anypath", Route, "a path drawn uniformly from all that the map has, long ones too", func() Part {
			return route.AnyPath{}
		}),
		blind(one("tcp", Share, "no rates: hosts share by themselves", func() Part { return new(share.TCP) })),
		blind(one("maxmin", Share, "the max-min fair rate of every host flow, set by the policy", func() Part {
			return new(share.MaxMin)
		})),
		rates("optba", "the rates at which the last of all host flows ends earliest (OptBA)", false),
		rates("optba-total", "the rates of the least sum of transfer times (OptBA-TTT)", true),
		blind(one("priority", Share, "strict priorities at each receiving machine, the coflow of the smallest job first",
			func() Part { return new(share.Priority) })),
		blind(one("priority-fifo", Share, "priority, but of each user only the job that came first is served before others",
			func() Part { return &share.Priority{Intent: share.FIFOIntent} })),
		blind(one("priority-arrival", Share, "strict priorities at each receiving machine, the coflow of the first job first",
			func() Part { return &share.Priority{Intent: share.OrderIntent} })),
		blind(one("priority-bins", Share, "strict priorities by seven bins of coflow size, the same everywhere", func() Part {
			return &share.Priority{Intent: share.BinIntent}
		})),
		one("fifo", Share, "the coflow that arrived first gets what it needs to end at once, then the next", func() Part {
			return share.NewFIFO()
		}),
		one("scf", Share, "fifo, but the coflow of the smallest largest host flow first", func() Part {
			return share.NewSCF()
		}),
		one("ncf", Share, "fifo, but the coflow of fewest host flows first", func() Part { return share.NewNCF() }),
		one("lcf", Share, "fifo, but the coflow of fewest bytes left first", func() Part { return share.NewLCF() }),
		one("sebf", Share, "Varys: fifo, but the coflow of the smallest bottleneck first", func() Part {
			return share.NewSEBF()
		}),
		one("rapier", Share, "sebf that finds all bottlenecks anew on what is left after each choice (RAPIER)", func() Part {
			return share.NewRapier()
		}),
		one("sebf-deadline", Share, "Varys with deadlines: coflows that fit are promised theirs, the others go by sebf",
			func() Part {
				return share.NewDeadline()
			}),
		one("bssi", Share, "Sincronia: fifo, but from the last backwards by weight for what the bottleneck carries",
			func() Part {
				return share.NewBSSI()
			}),
		totals(one("dclas", Share, "Aalo: by bytes sent so far in ten queues, in order of arrival within one", func() Part {
			return share.NewDCLAS()
		})),
		blind(one("fairport", Share, "an equal part of each port for every host flow that takes it", func() Part {
			return new(share.Fair)
		})),
		one("coflowsim-fair", Share, "fairport, which is coflowsim's FAIR", func() Part { return new(share.Fair) }),
		steps("coflowsim-fifo", "fifo by the rules of coflowsim, the simulator of Varys", func() Part {
			return share.NewCoflowsim("fifo")
		}),
		steps("coflowsim-scf", "scf by the rules of coflowsim", func() Part { return share.NewCoflowsim("scf") }),
		steps("coflowsim-ncf", "ncf by the rules of coflowsim", func() Part { return share.NewCoflowsim("ncf") }),
		steps("coflowsim-lcf", "lcf by the rules of coflowsim", func() Part { return share.NewCoflowsim("lcf") }),
		steps("coflowsim-sebf", "sebf by the rules of coflowsim", func() Part { return share.NewCoflowsim("sebf") }),
		steps("coflowsim-pfp", "smallest flow first at each receiver, as coflowsim's PFP", func() Part {
			return share.NewCoflowsimPFP()
		}),
		steps("coflowsim-dclas", "dclas by the rules of coflowsim's DARK", func() Part { return new(share.CoflowsimDark) }),
		steps("sincronia-bssi", "bssi by the rules of Sincronia's simulator: its order found once, greedy rates",
			func() Part {
				return share.NewSincronia()
			}),
		packedWith("pushbox", "slots and strict priorities together, a machine receiving for few tasks at once (PushBox)",
			share.FairIntent),
		packedWith("pushbox-fifo", "pushbox that serves a user's jobs in order of arrival", share.FIFOIntent),
		packedWith("pushbox-queues", "pushbox that does so for users whose name begins with fifo", share.QueueIntent),
		cross("crosslayer", "places and routes together by annealing at two levels", anneal.Options{}),
		cross("application", "the upper level of crosslayer alone: places by annealing, for paths drawn at random",
			anneal.Options{Blind: true}),
		cross("application-paper", "application as its document prints it", anneal.Options{Blind: true, Paper: true}),
		{PartInfo{"joint", []Question{Place, Circuits, Route},
			"places, lights and routes together: places tried in a copy of Sunflow's schedule, circuits for every pair",
			controller.Capabilities{Circuits: true}},
			func(o Options) []Part {
				p, l, r := joint.NewJoint(anneal.Options{})
				explain(o, p, r)
				return []Part{p, l, r}
			}},
		{PartInfo{"apart", []Question{Place, Circuits, Route},
			"joint, but its places are searched for the packet network alone: what deciding together is measured against",
			controller.Capabilities{Circuits: true}},
			func(o Options) []Part {
				p, l, r := joint.NewApart(anneal.Options{})
				explain(o, p, r)
				return []Part{p, l, r}
			}},
		cross("crosslayer-paper", "crosslayer as its document prints it", anneal.Options{Paper: true}),
		cross("crosslayer-paper-shared", "crosslayer-paper where pairs of tasks between two hosts share the bandwidth",
			anneal.Options{Paper: true, Shared: true}),
	}, append(onFRoBA(), sunflowSim()...)...)
}

// packed is an entry that gives slots by a rule.
func packed(name, doc string, rule pushbox.Rule, fifo func(user string) bool) entry {
	return entry{PartInfo{Name: name, Questions: []Question{Place}, Doc: doc}, func(o Options) []Part {
		k := place.NewPacker(rule, fifo)
		explain(o, k)
		return []Part{k}
	}}
}

// packedWith is an entry that gives slots and priorities by an intent.
func packedWith(name, doc string, intent share.Intent) entry {
	return entry{PartInfo{Name: name, Questions: []Question{Place, Share}, Doc: doc}, func(o Options) []Part {
		k := place.NewPacker(pushbox.PushBox, intent.Ordered)
		explain(o, k)
		return []Part{k, &share.Priority{Intent: intent}}
	}}
}

// edmonds is an entry with a configurable slot duration.
func edmonds(name, doc string, part circuits.Epochs) entry {
	return entry{PartInfo{name, []Question{Circuits}, doc, controller.Capabilities{Circuits: true}},
		func(o Options) []Part {
			own := part
			own.Slot = o.EdmondsSlot
			return []Part{own}
		}}
}

// dawn is an entry that places.
func dawn(name, doc string, of place.Dawn) entry {
	can := controller.Capabilities{Blind: true}
	return entry{PartInfo{name, []Question{Place}, doc, can}, func(o Options) []Part {
		p := of
		explain(o, &p)
		return []Part{&p}
	}}
}

// annealed is an entry that routes.
func annealed(name, doc string, opt anneal.Options) entry {
	return entry{PartInfo{Name: name, Questions: []Question{Route}, Doc: doc}, func(o Options) []Part {
		r := &route.Annealed{Options: opt}
		explain(o, r)
		return []Part{r}
	}}
}

// proven is an entry that routes and proves how well.
func proven(name, doc string, by route.Router, byCoflow bool) entry {
	return entry{PartInfo{Name: name, Questions: []Question{Route}, Doc: doc}, func(o Options) []Part {
		r := &route.Certified{Router: by, ByCoflow: byCoflow}
		r.Tell(o.Explain.And(o.Prove))
		return []Part{r}
	}}
}

// rates is an entry that sets rates on given routes and proves how good they are.
func rates(name, doc string, total bool) entry {
	return entry{PartInfo{Name: name, Questions: []Question{Share}, Doc: doc}, func(o Options) []Part {
		a := &share.OptBA{Total: total}
		explain(o, a)
		return []Part{a}
	}}
}

// onFRoBA are the entries of the online scheduler of flows, by selection, with and without DRB and preemption.
func onFRoBA() (all []entry) {
	add := func(name, doc string, a share.OnFRoBA) {
		all = append(all, entry{PartInfo{Name: name, Questions: []Question{Share}, Doc: doc}, func(Options) []Part {
			fresh := a
			return []Part{&fresh}
		}})
	}
	for _, s := range []struct {
		name, doc string
		by        share.Selection
	}{
		{"onfroba", "the fewest bytes left first", share.SLF},
		{"onfroba-vff", "all whose path has bandwidth", share.VFF},
		{"onfroba-sff", "what could end first alone", share.SFF},
		{"onfroba-fcfs", "in order of arrival, each alone", share.InTurn},
	} {
		for _, preempt := range []bool{false, true} {
			name, doc := s.name, "host flows wait for bandwidth, "+s.doc+"; those that send share what is left (OnFRoBA)"
			if preempt {
				name, doc = name+"-preempt", s.name+" that lets every host flow wait again at each decision"
			}
			add(name, doc, share.OnFRoBA{Select: s.by, Preempt: preempt, DRB: true})
		}
	}
	add("onfroba-nodrb", "onfroba that leaves idle what is left", share.OnFRoBA{Select: share.SLF})
	add("onfroba-nodrb-preempt", "onfroba-preempt that leaves idle what is left",
		share.OnFRoBA{Select: share.SLF, Preempt: true})
	return all
}

// refused are names of published schedulers that no fabric can carry out, and why.
func refused() map[string]string {
	const drc = "hosts take the time of a task when it starts, so no fabric can change the vCPUs of a running task " +
		"(DRC): use ontapra, which has none, or see what DRC gains with lightloom experiment run tapra-online"
	return map[string]string{"ontapra-drc": drc, "tapra-drc": drc, "tapra-fast-drc": drc}
}

// placing is an entry that places tasks with loads and proves how well.
func placing(name, doc string, by place.Placer, shortest bool) entry {
	return entry{PartInfo{Name: name, Questions: []Question{Place}, Doc: doc,
		Capabilities: controller.Capabilities{Blind: true}},
		func(o Options) []Part {
			c := &place.Certified{Placer: by, Shortest: shortest}
			explain(o, c)
			return []Part{c}
		}}
}

// The placers that draw nothing.
func tapra(t *certified.Tasks, e certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
	return certified.TaPRA(t, e)
}

func tapraFast(t *certified.Tasks, e certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
	return certified.TaPRAFast(t, e)
}

func minMin(t *certified.Tasks, _ certified.Effort, _ *rand.Rand) (*certified.Placed, error) {
	return certified.MinMin(t)
}

// cross is an entry of two parts, place and route.
func cross(name, doc string, opt anneal.Options) entry {
	can := controller.Capabilities{Migrates: joint.Migrates(opt)}
	return entry{PartInfo{name, []Question{Place, Route}, doc, can}, func(o Options) []Part {
		p, r := joint.NewCrossLayer(opt)
		p.Migrate(o.Migrate)
		explain(o, p, r)
		return []Part{p, r}
	}}
}

// telling is a Part that can explain where tasks and host flows go.
type telling interface{ Tell(route.Teller) }

// explain has parts report their reasons to o.Explain; nil disables explanations.
func explain(o Options, parts ...telling) {
	for _, p := range parts {
		p.Tell(o.Explain)
	}
}

// presets are the policies that users meet first: each name is a + list of parts, or stands for one (fair alone is the
// share of ports, as the field calls it, and not the placement, which is fair anyway). The rest is left at its default.
func presets() []Info {
	return []Info{
		{Name: "random+ecmp", Doc: "random slots, hashed paths, no circuits"},
		{Name: "random+ecmp+maxmin", Doc: "random slots, hashed paths, rates set by the policy, no circuits"},
		{Name: "random+ecmp+sunflow", Doc: "random slots, hashed paths, circuits for elephants"},
		{Name: "fair", Of: "fairport", Doc: "an equal part of each port for every host flow, default placement and paths, " +
			"no " +
			"circuits"},
		{Name: "random+anypath", Doc: "random slots, random paths: what cross-layer scheduling is measured against"},
		{Name: "application", Doc: "slots annealed, random paths: cross-layer scheduling's upper level alone"},
		{Name: "random+anneal", Doc: "random slots, paths annealed: cross-layer scheduling's lower level alone"},
		{Name: "crosslayer", Doc: "slots and paths annealed together, no circuits"},
		{Name: "crosslayer+sunflow", Doc: "slots and paths annealed together, circuits for elephants"},
	}
}

// defaults are the parts taken for a question that a name leaves open: packets only, the shortest path, fair sharing.
func defaults() [questions]string {
	return [questions]string{Place: "fair", Circuits: "", Route: "shortest", Share: "tcp"}
}
