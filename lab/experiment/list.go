package experiment

// list is the one visible list of experiments.
func list() []Experiment {
	const days = "its runs would take days in real time; joint-packets has some of its grounds on packets"
	all := []Experiment{
		{Name: "factorial", Doc: "place × route × circuits, and joint, which decides all three at once",
			Source: "the synthetic workload", Only: days, Run: runFactorial},
		{Name: "joint-when", Doc: "what joint adds over reconfiguration delays, circuits, ports, load and sizes",
			Source: "the synthetic workload", Only: days, Run: runJointWhen},
		{Name: "joint-wide", Doc: "joint beside compositions of separate parts where the network binds; from --seed 1001 " +
			"on beside the frozen rivals only", Source: "wide shuffles, SWIM and Facebook traces",
			Only: days, Run: runJointWide},
		{Name: "joint-packets", Doc: "joint and packed places with a circuit for every pair on real packets, beside the " +
			"simulator", Source: "wide shuffles", Seeds: 10, On: []string{OnNetns},
			Only: Beside, Run: runJointPackets},
		{Name: "joint-parts", Doc: "what joint gains by circuits that go on, and how often two circuits lead to where a " +
			"coflow waits for one", Source: "wide shuffles and SWIM traces", Seeds: 10,
			Only: days, Run: runJointParts},
		{Name: "grounds", Doc: "where the network binds: headroom between a circuit for every pair and packets of equal " +
			"capacity", Source: "synthetic jobs, SWIM and Facebook traces", Only: days, Run: runGrounds},
	}
	all = append(all, crosslayerExperiments()...)
	all = append(all, coschedulerExperiments()...)
	return append(all, Experiment{Name: "topology-map",
		Doc:    "time and memory of the k shortest paths at 1,000 hosts",
		Source: "cross-layer scheduling, section 2: about 3 minutes and 6 MB for 1,000 servers, k = 10",
		Only:   SendsNothing, Alone: TimesThis, Run: runTopologyMap})
}
