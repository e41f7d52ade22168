package report

import (
	"encoding/json"
	"time"
)

// MarshalJSON writes how often each duration occurred.
func (t *Times) MarshalJSON() ([]byte, error) {
	t.write()
	return json.Marshal(t.n)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (t *Times) UnmarshalJSON(b []byte) error {
	*t = Times{}
	if err := json.Unmarshal(b, &t.n); err != nil {
		return err
	}
	for _, n := range t.n {
		t.count += n
	}
	return nil
}

// movedJSON is Moved with all that it holds.
type movedJSON struct {
	Delays, Darks   *Times
	Circuits, Ports int
	Last            time.Duration
	Stages          []stageJSON
	First           []CircuitInterval
}

type stageJSON struct {
	Name string
	Took *Times
}

// MarshalJSON writes what a report needs of moves.
func (m *Moved) MarshalJSON() ([]byte, error) {
	out := movedJSON{Delays: &m.ReconfigurationDelays, Darks: &m.Darks, Circuits: m.Circuits, Ports: m.Ports,
		Last: m.Last, First: m.First()}
	for _, s := range m.stages {
		out.Stages = append(out.Stages, stageJSON{s.name, s.took})
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (m *Moved) UnmarshalJSON(b []byte) error {
	*m = Moved{}
	in := movedJSON{Delays: &m.ReconfigurationDelays, Darks: &m.Darks}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	m.Circuits, m.Ports, m.Last, m.first = in.Circuits, in.Ports, in.Last, in.First
	for _, s := range in.Stages {
		if s.Took != nil {
			m.stages = append(m.stages, timesOf{s.Name, s.Took})
		}
	}
	return nil
}
