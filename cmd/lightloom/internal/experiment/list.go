package experiment

// list is the one visible list of experiments.
func list() []Experiment {
	return []Experiment{
		topologyMap(),
	}
}
