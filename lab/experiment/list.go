package experiment

// list is the one visible list of experiments.
func list() []Experiment {
	all := []Experiment{
		factorial(),
		jointWhen(),
		jointWide(),
		jointPackets(),
		jointParts(),
		groundsExperiment(),
	}
	all = append(all, crosslayerExperiments()...)
	all = append(all, coschedulerExperiments()...)
	return append(all, topologyMap())
}
