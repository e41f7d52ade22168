package experiment

import "context"

// The experiment crosslayer-axes changes one thing that the cross-layer document does not give at a
// time: one of these may be why its gains rise with hosts where ours fall.

// axis is one change; an engine that it has no text for does not know it.
type axis struct {
	name   string
	slots  int
	of     string // the engine's name; "": both
	change string // of the engine's text
}

func axes() []axis {
	return []axis{
		{"as the figures", slotsEach, "", ""},
		{"1 slot a server, so that no tasks share one", 1, "", ""},
		{"2 slots a server", 2, "", ""},
		{"12 slots a server, so that a job can share one", 12, "", ""},
		{"streams of ten times the bytes", slotsEach, "Storm", ",bytes=10MB-1GB"},
		{"tuples that go to one child", slotsEach, "Storm", ",forward=split"},
		{"two rounds of map and reduce in a job", slotsEach, "Hadoop", ",rounds=2"},
		{"12 maps and 12 reduces", slotsEach, "Hadoop", ",maps=12,reduces=12"},
	}
}

// jobTasks is how many tasks a job of an engine has at once, at most.
func (a *axis) jobTasks(e *engine) int {
	switch {
	case a.change == ",maps=12,reduces=12":
		return 24
	case a.of == "Hadoop":
		return 16
	case e.name == "Hadoop":
		return 8
	}
	return 12
}

// stands are where an axis is tried: on both networks at 100 MB/s, where a job fits.
func (a *axis) stands(e engine) (all []stand) {
	own := e
	own.text += a.change
	for _, n := range networks() {
		for _, hosts := range []int{10, 30} {
			if (a.of == "" || a.of == e.name) && hosts*a.slots >= a.jobTasks(&e) {
				all = append(all, stand{own, n, hosts, "800Mbps", OnFlowsim, a.slots, ", " + a.name})
			}
		}
	}
	return all
}

func runAxes(ctx context.Context, b *Bench) (*Result, error) {
	out := b.Result(append(assumedCrosslayer(b), "one thing is changed at a time, at 100 MB/s")...)
	for _, e := range []engine{storm(), hadoop()} {
		var places []stand
		for _, a := range axes() {
			places = append(places, a.stands(e)...)
		}
		if _, err := Fill(ctx, b, out, places, e.whole(), stand.run, stand.axisRows); err != nil {
			return nil, err
		}
	}
	out.Notes = append(out.Notes, HolmNote(out.Rows))
	return out, nil
}

func (s stand) axisRows(out *Result, at Systems) {
	for _, sys := range s.e.whole()[1:] {
		r := s.improvement(out, sys, s.at()+s.change+": "+sys.name, at)
		out.At(r.Figure, r.Setting, "").Row("mean JCT of all jobs above random's, those within one server included",
			"%", 0, at.Against(sys.name, "random", meanJCT, Above))
	}
}
