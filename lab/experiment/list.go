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
	return append(all, coschedulerExperiments()...)
}
