package experiment

// list is the one visible list of experiments.
func list() []Experiment {
	all := []Experiment{
		topologyMap(),
	}
	return append(all, coschedulerExperiments()...)
}
