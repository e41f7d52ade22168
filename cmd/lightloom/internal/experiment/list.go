package experiment

// list is the one visible list of experiments.
func list() []Experiment {
	all := []Experiment{
		topologyMap(),
		factorial(),
	}
	return append(all, coschedulerExperiments()...)
}
