package leader

import "lightloom/controller"

// offerSize returns the log size of an offer's entry in bytes: exact for flows and tasks, which can be
// many, and an upper bound for the rest. It allocates nothing.
func offerSize(o *controller.Offer) int {
	j := o.Job
	n := sizeEntry + textSize(o.Request)
	if j == nil {
		return n
	}
	n += sizeJob + textSize(j.Name) + textSize(j.User)
	for i := range j.Stages {
		s := &j.Stages[i]
		n += sizeStage + textSize(s.Name) + sizeEfficiency*len(s.Efficiency)
		for i, h := range s.Hosts {
			if i == 0 {
				n += len(`,"hosts":[]`)
			}
			n += 1 + digits(int64(h))
		}
		for k := range s.Tasks {
			n += taskSize(&s.Tasks[k])
		}
	}
	for i := range j.Edges {
		e := &j.Edges[i]
		n += sizeEdge
		if e.Reads != nil {
			n += sizeRead + textSize(e.Reads.Job)
			for _, h := range e.Reads.Hosts {
				n += 1 + digits(int64(h))
			}
		}
		for _, part := range e.Reducers {
			n += 1 + digits(part)
		}
		for k := range e.Flows {
			n += flowSize(&e.Flows[k])
		}
	}
	return n
}

// What an entry, a job, a stage and an edge take at most beside their texts, tasks and flows: all keys,
// and the longest numbers.
const (
	sizeEntry = 512
	sizeJob   = 1024
	sizeStage = 64
	sizeEdge  = 320

	sizeEfficiency = 26
	sizeRead       = 128
)

func flowSize(f *controller.Flow) int {
	const keys = `{"src":,"dst":,"bytes":},`
	return len(keys) + digits(int64(f.Src)) + digits(int64(f.Dst)) + digits(int64(f.Bytes)) +
		optional(`,"count":`, int64(f.Count))
}

func taskSize(t *controller.Task) int {
	const keys = `{"compute_ns":},`
	n := 0
	for i, r := range t.Replicas {
		if i == 0 {
			n += len(`,"replicas":[]`) - 1 // a comma less than racks
		}
		n += 1 + digits(int64(r))
	}
	return n + len(keys) + digits(int64(t.Compute)) + optional(`,"slots":`, int64(t.Slots)) +
		optional(`,"load_ns":`, int64(t.Load)) + optional(`,"input":`, int64(t.Input)) +
		optional(`,"non_local_ns":`, int64(t.NonLocal))
}

func optional(key string, v int64) int {
	if v == 0 {
		return 0
	}
	return len(key) + digits(v)
}

// digits returns how long a number is, its sign included.
func digits(v int64) int {
	n, u := 1, uint64(v)
	if v < 0 {
		n, u = 2, -u
	}
	for ; u >= 10; u /= 10 {
		n++
	}
	return n
}

// textSize returns how long a text is at most: each byte can be written as six.
func textSize(s string) int { return 6*len(s) + 2 }
