package pushbox

// Output is what a machine holds of the input of a stage: tasks that send to it ran there.
type Output struct {
	Machine int
	Bytes   float64 // for all tasks of the stage
}

// held is what machines and racks hold for one task of a stage, in bytes.
type held struct{ host, rack []float64 }

// held spreads what machines hold of a stage's input evenly over its tasks.
func (s *Stage) held(o *Scheduler) held {
	if s.holds.host != nil {
		return s.holds
	}
	s.holds = held{make([]float64, len(o.Machines)), make([]float64, o.racks())}
	if s.Outputs == nil {
		return s.holds
	}
	for _, x := range s.Outputs() {
		bytes := x.Bytes / float64(s.End-s.First)
		s.holds.host[x.Machine] += bytes
		s.holds.rack[o.Machines[x.Machine].Rack] += bytes
	}
	return s.holds
}

// racks is how many racks there are.
func (o *Scheduler) racks() int {
	n := 0
	for i := range o.Machines {
		n = max(n, int(o.Machines[i].Rack)+1)
	}
	return n
}

// receiving counts, by machine, the tasks of a job that receive.
func (o *Scheduler) receiving(j *Job) []int {
	if j.receivers == nil && j.Receivers != nil {
		j.receivers = j.Receivers()
	}
	if j.receivers == nil {
		j.receivers = make([]int, len(o.Machines))
	}
	return j.receivers
}
