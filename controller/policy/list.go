package policy

import (
	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/certified"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/policy/sunflowsim"
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
	make maker
}

// row is an entry in the table of its questions.
type row struct {
	name string
	doc  string
	can  ability
	make maker
}

// ability is what a part can do, or needs, beside what all do. controller.Capabilities explains each.
type ability uint16

const (
	blind ability = 1 << iota
	totals
	wavelengths
	relays
	migrates
	simulated
	multihops
	priorities
	briefly
)

// list is the one visible list of parts. A new part is one file, and one line in a table below.
func list() []entry {
	var all []entry
	add := func(rows []row, qs ...Question) {
		for _, r := range rows {
			all = append(all, r.entry(qs))
		}
	}
	add(places(), Place)
	add(circuitSchedules(), Circuits)
	add(routes(), Route)
	add(shares(), Share)
	add(orderedShares(), Share)
	add(coflowsimShares(), Share)
	add(onFRoBA(), Share)
	add(sunflowsimShares(), Share)
	add(placesAndShares(), Place, Share)
	add(placesAndRoutes(), Place, Route)
	add(placesCircuitsAndRoutes(), Place, Circuits, Route)
	return all
}

func (r *row) entry(qs []Question) entry {
	can := controller.Capabilities{Blind: r.can&blind != 0, Totals: r.can&totals != 0, Brief: r.can&briefly != 0,
		Wavelengths: r.can&wavelengths != 0, Relays: r.can&relays != 0, Migrates: r.can&migrates != 0,
		Simulated: r.can&simulated != 0, Multihop: r.can&multihops != 0,
		Priorities: r.can&priorities != 0}
	for _, q := range qs {
		can.Circuits = can.Circuits || q == Circuits
	}
	return entry{PartInfo{r.name, qs, r.doc, can}, r.make}
}

func places() []row {
	return []row{
		{"random", "each task on a slot drawn uniformly from the free ones", blind, value(place.Random{})},
		{"packed", "each job into as few racks as it can, and there onto the hosts with the most free slots", blind,
			value(place.Packed{})},
		{"fair", "equal shares of slots for users, maps near their blocks (delay scheduling); whole jobs on the least " +
			"loaded hosts", blind, fresh(place.Fair{})},
		{"corral", "fair, but maps, reduces and input of a recurring job on the same few racks (Corral)", 0,
			fresh(place.Corral{})},
		{"dawn", "tasks where what they read lies together, and what others will read, by the load between racks (Dawn)",
			blind, fresh(place.Dawn{})},
		{"dawn-strict", "dawn that leaves slots free which no stage prefers", blind,
			fresh(place.Dawn{Strict: true})},
		{"dawn-alone", "dawn that knows nothing of the jobs that read from others", blind,
			fresh(place.Dawn{Alone: true})},
		{"hadoop", "the job with the fewest running tasks of its user takes the next slot, maps near their blocks " +
			"(Hadoop's Fair Scheduler with delay scheduling)", 0, packer(pushbox.Hadoop, nil)},
		{"hadoop-fifo", "hadoop, but a user's jobs in order of arrival", 0,
			packer(pushbox.Hadoop, place.AllFIFO)},
		{"shufflewatcher", "hadoop, but maps go first where a network card is busy, and otherwise to as few nodes as have " +
			"their blocks, with the reduces behind them (ShuffleWatcher)", 0,
			packer(pushbox.ShuffleWatcher, nil)},
		{"shufflewatcher-fifo", "shufflewatcher, but a user's jobs in order of arrival", 0,
			packer(pushbox.ShuffleWatcher, place.AllFIFO)},
		{"neat", "each task where it is predicted to end first, by both ends and the path, smallest coflow first (NEAT)", 0,
			neat(pushbox.SmallestFirst, nil)},
		{"neat-fair", "neat for networks that share fairly, such as tcp", 0, neat(pushbox.EqualShares, nil)},
		{"neat-fifo", "neat for first come, first served, and a user's jobs in order of arrival", 0,
			neat(pushbox.FirstCome, place.AllFIFO)},
		{"coscheduler", "fair, but tasks of shuffle-heavy jobs where their shuffle makes elephants (Co-scheduler)", 0,
			fresh(place.CoScheduler{})},
		{"coscheduler-strict", "coscheduler that never leaves its guidelines for an idle slot", 0,
			fresh(place.CoScheduler{Strict: true})},
		{"tapra", "tasks with loads and their vCPUs for the earliest end of the job, with a proven gap (TaPRA)", blind,
			fresh(place.Certified{Placer: tapra})},
		{"tapra-fast", "tapra by local search alone (TaPRA-fast)", blind,
			fresh(place.Certified{Placer: tapraFast})},
		{"ontapra", "tapra, always the job that can end first (OnTaPRA)", blind,
			fresh(place.Certified{Placer: tapra, Shortest: true})},
		{"ontapra-drc", "ontapra that lends running tasks the vCPUs that nobody has, by their loads (DRC)", blind,
			fresh(place.Certified{Placer: tapra, Shortest: true, DRC: true})},
		{"tapra-drc", "tapra with DRC", blind, fresh(place.Certified{Placer: tapra, DRC: true})},
		{"tapra-fast-drc", "tapra-fast with DRC", blind, fresh(place.Certified{Placer: tapraFast, DRC: true})},
		{"minmin", "tasks with loads by Min-Min, with vCPUs and limits as tapra has them", blind,
			fresh(place.Certified{Placer: minMin})},
		{"mm-ga", "minmin improved by a genetic algorithm", blind,
			fresh(place.Certified{Placer: certified.MMGA(certified.Proportional)})},
		{"gsa", "tasks with loads by genetic simulated annealing", blind,
			fresh(place.Certified{Placer: certified.GSA(certified.Proportional)})},
	}
}

func circuitSchedules() []row {
	return []row{
		{"sunflow", "circuits for elephants, shortest coflow first, not all stop", wavelengths,
			sunflow(circuits.Sunflow{})},
		{"sunflow-preempt", "sunflow, but a shorter coflow takes begun circuits of longer ones", wavelengths,
			sunflow(circuits.Sunflow{Preempt: true})},
		{"sunflow-turning", "sunflow, the longest pairs first and turning like a rotor on crossbars too", wavelengths,
			sunflow(circuits.Sunflow{Order: circuits.Turning})},
		{"sunflow-every", "sunflow for each pair of racks of a coflow, without an elephant threshold", wavelengths,
			sunflow(circuits.Sunflow{Every: true})},
		{"sunflow-hold", "sunflow, but what is to take a circuit sends nothing over packets before", wavelengths,
			sunflow(circuits.Sunflow{Fallback: controller.Hold})},
		{"solstice", "port schedules of few long slots, an epoch at a time; packets carry the rest", wavelengths,
			made(circuits.Solstice)},
		{"eclipse", "port schedules of the slots that carry most for their time, an epoch at a time", wavelengths,
			made(circuits.Eclipse)},
		{"bvn", "port schedules by Birkhoff and von Neumann's decomposition, an epoch at a time", wavelengths,
			made(circuits.BvN)},
		{"parallel", "port schedules over all switches together, each pair on one and the last done soon, an epoch at a time",
			wavelengths, fresh(circuits.Parallel{})},
		{"edmonds", "the matching of the most demand, slot by slot, as c-Through and Helios", wavelengths,
			edmonds(circuits.Edmonds())},
		{"edmonds-backlog", "edmonds that knows of each host flow what its socket holds, as c-Through", wavelengths,
			edmonds(circuits.Edmonds().FromBacklog())},
		{"rotor", "all matchings in turn, whatever the demand, as RotorNet without detours", wavelengths,
			made(circuits.Rotor)},
		{"rotor-vlb", "rotor on racks that keep bytes for each other, as RotorNet with detours over a third rack",
			relays | blind, value(circuits.RotorVLB{})},
		{"phases", "circuits follow the phases of training jobs, where that is worth the reconfiguration delay", wavelengths |
			blind, fresh(circuits.Phases{})},
		{"phases-once", "the circuits that are best for all phases of a training job together, set once", wavelengths | blind,
			fresh(circuits.Phases{Once: true})},
		{"circulant", "each rack joined to others at strides of a circulant graph, an hour long, whatever the demand",
			wavelengths | blind, value(circuits.Circulant{})},
		{"topology", "pairs of most demand on all switches together, where that is worth the reconfiguration delay",
			wavelengths, fresh(circuits.Topology{})},
		{"topology-balanced", "topology, each rack's circuits split evenly over two halves of the switches", wavelengths,
			fresh(circuits.Topology{Groups: 2})},
		{"static", "one matching, for the first demand, an hour long", wavelengths, value(circuits.Static{})},
		{"sunflowsim-sunflow", "sunflow by the rules of its authors' simulator", simulated,
			made(sunflowsim.NewSunflow)},
		{"sunflowsim-solstice", "solstice by the rules of that simulator", simulated,
			made(sunflowsim.NewSolstice)},
		{"sunflowsim-edmonds", "edmonds by the rules of that simulator", simulated, sunflowsimEdmonds},
	}
}

func routes() []row {
	return []row{
		{"shortest", "the packet network's default path", blind, value(route.Shortest{})},
		{"ecmp", "a seeded hash over the equal-cost shortest paths", blind, value(route.ECMP{})},
		{"ecmp-multihop", "ecmp, but over several circuits that stand, or circuits and packets, where that is sooner",
			multihops, fresh(route.Multihop{})},
		{"wcmp", "ecmp by weights: a path's available bandwidth", 0, value(route.WCMP{})},
		{"froba", "paths for the least sum of transfer times, with a proven gap (FRoBA)", 0,
			proven(certified.FRoBA, false)},
		{"froba-fast", "froba by local search alone (FRoBA-fast)", 0, proven(certified.FRoBAFast, false)},
		{"froba-greedy", "froba-fast from a greedy routing, not from each flow's widest path", 0,
			proven(certified.FRoBAGreedy, false)},
		{"froba-best", "the better of froba and froba-greedy", 0, proven(certified.FRoBABest, false)},
		{"corba", "paths by which a coflow's last host flow ends earliest, with a proven gap (CoRBA)", 0,
			proven(certified.CoRBA, true)},
		{"corba-fast", "corba by local search alone (CoRBA-fast)", 0, proven(certified.CoRBAFast, true)},
		{"corba-greedy", "corba-fast from a greedy routing, not from each flow's widest path", 0,
			proven(certified.CoRBAGreedy, true)},
		{"corba-best", "the better of corba and corba-greedy, with a bound that is never lower", 0,
			proven(certified.CoRBABest, true)},
		{"mincct-s", "RAPIER's MinimizeCCT over 5 shortest paths", 0,
			proven(route.MinCCT(certified.ShortestPaths, 5), true)},
		{"mincct-m", "RAPIER's MinimizeCCT over 5 widest paths", 0,
			proven(route.MinCCT(certified.WidestPaths, 5), true)},
		{"mincct-sm", "RAPIER's MinimizeCCT over 5 paths, the shortest and of these the widest", 0,
			proven(route.MinCCT(certified.ShortestWidestPaths, 5), true)},
		{"corba-anew", "corba that routes coflows under way, too, whenever one comes or ends (CoRBA online)", 0,
			anew(certified.CoRBA, true)},
		{"mincct-sm-anew", "mincct-sm that does so (with rapier: RAPIER)", 0,
			anew(route.MinCCT(certified.ShortestWidestPaths, 5), true)},
		{"froba-anew", "froba that does so (with onfroba: OnFRoBA)", 0, anew(certified.FRoBA, false)},
		{"anneal", "paths by simulated annealing, all new coflows together", 0, fresh(route.Annealed{})},
		{"anneal-paper", "anneal as its document prints it", 0,
			fresh(route.Annealed{Options: anneal.Options{Paper: true}})},
		{"anneal-paper-shared", "anneal-paper where pairs of tasks between two hosts share the bandwidth", 0,
			fresh(route.Annealed{Options: anneal.Options{Paper: true, Shared: true}})},
		{"anypath", "a path drawn uniformly from all that the map has, long ones too", 0,
			value(route.AnyPath{})},
	}
}

func shares() []row {
	return []row{
		{"tcp", "no rates: hosts share by themselves", blind, fresh(share.TCP{})},
		{"maxmin", "the max-min fair rate of every host flow, set by the policy", blind, fresh(share.MaxMin{})},
		{"optba", "the rates at which the last of all host flows ends earliest (OptBA)", 0,
			fresh(share.OptBA{})},
		{"optba-total", "the rates of the least sum of transfer times (OptBA-TTT)", 0,
			fresh(share.OptBA{Total: true})},
		{"priority", "strict priorities at each receiving machine, the coflow of the smallest job first",
			blind | priorities, fresh(share.Priority{})},
		{"priority-fifo", "priority, but of each user only the job that came first is served before others",
			blind | priorities, fresh(share.Priority{Intent: share.FIFOIntent})},
		{"priority-arrival", "strict priorities at each receiving machine, the coflow of the first job first",
			blind | priorities, fresh(share.Priority{Intent: share.OrderIntent})},
		{"priority-bins", "strict priorities by seven bins of coflow size, the same everywhere",
			blind | priorities, fresh(share.Priority{Intent: share.BinIntent})},
	}
}

func orderedShares() []row {
	return []row{
		{"fifo", "the coflow that arrived first gets what it needs to end at once, then the next", 0,
			made(share.NewFIFO)},
		{"scf", "fifo, but the coflow of the smallest largest host flow first", 0, made(share.NewSCF)},
		{"ncf", "fifo, but the coflow of fewest host flows first", 0, made(share.NewNCF)},
		{"lcf", "fifo, but the coflow of fewest bytes left first", 0, made(share.NewLCF)},
		{"sebf", "Varys: fifo, but the coflow of the smallest bottleneck first", briefly, made(share.NewSEBF)},
		{"rapier", "sebf that finds all bottlenecks anew on what is left after each choice (RAPIER)", 0,
			made(share.NewRapier)},
		{"sebf-deadline", "Varys with deadlines: coflows that fit are promised theirs, the others go by sebf", 0,
			made(share.NewDeadline)},
		{"bssi", "Sincronia: fifo, but from the last backwards by weight for what the bottleneck carries", briefly,
			made(share.NewBSSI)},
		{"dclas", "Aalo: by bytes sent so far in ten queues, in order of arrival within one", totals,
			made(share.NewDCLAS)},
		{"fairport", "an equal part of each port for every host flow that takes it", blind, fresh(share.Fair{})},
	}
}

// coflowsimShares are the parts that follow the rules of other simulators: those of coflowsim, and
// Sincronia's.
func coflowsimShares() []row {
	return []row{
		{"coflowsim-fair", "fairport, which is coflowsim's FAIR", 0, fresh(share.Fair{})},
		{"coflowsim-fifo", "fifo by the rules of coflowsim, the simulator of Varys", simulated,
			coflowsim("fifo")},
		{"coflowsim-scf", "scf by the rules of coflowsim", simulated, coflowsim("scf")},
		{"coflowsim-ncf", "ncf by the rules of coflowsim", simulated, coflowsim("ncf")},
		{"coflowsim-lcf", "lcf by the rules of coflowsim", simulated, coflowsim("lcf")},
		{"coflowsim-sebf", "sebf by the rules of coflowsim", simulated, coflowsim("sebf")},
		{"coflowsim-pfp", "smallest flow first at each receiver, as coflowsim's PFP", simulated,
			made(share.NewCoflowsimPFP)},
		{"coflowsim-dclas", "dclas by the rules of coflowsim's DARK", simulated, fresh(share.CoflowsimDark{})},
		{"sincronia-bssi", "bssi by the rules of Sincronia's simulator: its order found once, greedy rates", simulated,
			made(share.NewSincronia)},
	}
}

// onFRoBA are the rows of the online scheduler of flows, by selection, with and without DRB and preemption.
func onFRoBA() (all []row) {
	for _, s := range []struct {
		name, doc string
		by        share.Selection
	}{
		{"onfroba", "the fewest bytes left first", share.SLF},
		{"onfroba-vff", "all whose path has bandwidth", share.VFF},
		{"onfroba-sff", "what could end first alone", share.SFF},
		{"onfroba-fcfs", "in order of arrival, each alone", share.InTurn},
	} {
		all = append(all,
			row{s.name, "host flows wait for bandwidth, " + s.doc + "; those that send share what is left (OnFRoBA)", 0,
				fresh(share.OnFRoBA{Select: s.by, DRB: true})},
			row{s.name + "-preempt", s.name + " that lets every host flow wait again at each decision", 0,
				fresh(share.OnFRoBA{Select: s.by, DRB: true, Preempt: true})})
	}
	return append(all,
		row{"onfroba-nodrb", "onfroba that leaves idle what is left", 0,
			fresh(share.OnFRoBA{Select: share.SLF})},
		row{"onfroba-nodrb-preempt", "onfroba-preempt that leaves idle what is left", 0,
			fresh(share.OnFRoBA{Select: share.SLF, Preempt: true})})
}

func sunflowsimShares() []row {
	return []row{
		{"sunflowsim-sebf", "Varys by the rules of that simulator", simulated, made(sunflowsim.NewVarys)},
		{"sunflowsim-dclas", "Aalo by the rules of that simulator", simulated, made(sunflowsim.NewAalo)},
	}
}

func placesAndShares() []row {
	return []row{
		{"pushbox", "slots and strict priorities together, a machine receiving for few tasks at once (PushBox)",
			priorities, pushBox(share.FairIntent)},
		{"pushbox-fifo", "pushbox that serves a user's jobs in order of arrival", priorities,
			pushBox(share.FIFOIntent)},
		{"pushbox-queues", "pushbox that does so for users whose name begins with fifo", priorities,
			pushBox(share.QueueIntent)},
	}
}

func placesAndRoutes() []row {
	return []row{
		{"crosslayer", "places and routes together by annealing at two levels", migrates,
			crossLayer(anneal.Options{})},
		{"application", "the upper level of crosslayer alone: places by annealing, for paths drawn at random", 0,
			crossLayer(anneal.Options{Blind: true})},
		{"application-paper", "application as its document prints it", 0,
			crossLayer(anneal.Options{Blind: true, Paper: true})},
		{"application-paper-shared", "application-paper where pairs of tasks between two hosts share the bandwidth", 0,
			crossLayer(anneal.Options{Blind: true, Paper: true, Shared: true})},
		{"crosslayer-paper", "crosslayer as its document prints it", 0, crossLayer(anneal.Options{Paper: true})},
		{"crosslayer-paper-shared", "crosslayer-paper where pairs of tasks between two hosts share the bandwidth", 0,
			crossLayer(anneal.Options{Paper: true, Shared: true})},
	}
}

func placesCircuitsAndRoutes() []row {
	return []row{
		{"joint", "places, lights and routes together: places tried in a copy of Sunflow's schedule, circuits for every " +
			"pair", wavelengths, jointly},
		{"apart", "joint, but its places are searched for the packet network alone: what deciding together is measured " +
			"against", wavelengths, separate},
	}
}

// presets are the policies that users meet first: each name is a + list of parts, or stands for one
// (fair alone is the share of ports, as the field calls it, and not the placement, which is fair
// anyway). The rest is left at its default.
func presets() []Info {
	return []Info{
		{Name: "random+ecmp", Doc: "random slots, hashed paths, no circuits"},
		{Name: "random+ecmp+maxmin", Doc: "random slots, hashed paths, rates set by the policy, no circuits"},
		{Name: "random+ecmp+sunflow", Doc: "random slots, hashed paths, circuits for elephants"},
		{Name: "fair", Of: "fairport", Doc: "an equal part of each port for every host flow, default placement and paths, " +
			"no circuits"},
		{Name: "random+anypath", Doc: "random slots, random paths: what cross-layer scheduling is measured against"},
		{Name: "application", Doc: "slots annealed, random paths: cross-layer scheduling's upper level alone"},
		{Name: "random+anneal", Doc: "random slots, paths annealed: cross-layer scheduling's lower level alone"},
		{Name: "crosslayer", Doc: "slots and paths annealed together, no circuits"},
		{Name: "crosslayer+sunflow", Doc: "slots and paths annealed together, circuits for elephants"},
	}
}

// defaults are the parts taken for a question that a name leaves open: packets only, the shortest path,
// fair sharing.
func defaults() [questions]string {
	return [questions]string{Place: "fair", Circuits: "", Route: "shortest", Share: "tcp"}
}
