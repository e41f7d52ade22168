package scenario

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/emulator/fault"
	"lightloom/emulator/netns"
	"lightloom/pathmap"
)

// Scenario is what runs: one row of a report, which is jobs and faults on a fabric, under one policy and one seed. It
// is plain data, and crosses to the process in the namespaces as JSON. Instants count from the run's begin. What a user
// wrote is in Options. A new setting that runs need goes into Rules, and is here then.
type Scenario struct {
	Row               Row              `json:"row"`
	Seed              uint64           `json:"seed"`
	Overrides         policy.Overrides `json:"overrides"`
	Rules             Rules            `json:"rules"`
	ElephantThreshold pathmap.Bytes    `json:"elephant_threshold"`
	Replicas          int              `json:"replicas"`
	Delays            Delays           `json:"delays"`

	Jobs   []controller.Job `json:"jobs"`             // by arrival, as admitted
	Faults []fault.Event    `json:"faults,omitempty"` // by instant
	Until  time.Duration    `json:"until,omitempty"`  // what has not ended then is cancelled; 0: never
	// the run stops then, whatever still runs; 0: when all jobs have ended
	StopAt time.Duration `json:"stop_at,omitempty"`

	Admission time.Duration `json:"admission,omitempty"` // jobs are submitted at its multiples; 0: when they arrive
	Quantum   time.Duration `json:"quantum,omitempty"`   // flows end at its multiples; 0: when they end

	Net   netns.Options `json:"net"`             // of real packets
	Links bool          `json:"links,omitempty"` // record what passes packet links over time
	// keep what is known as circuit reservations are made and end
	Reservations bool `json:"reservations,omitempty"`
}

// LastArrival is when the last job arrives.
func (s *Scenario) LastArrival() (at time.Duration) {
	for i := range s.Jobs {
		at = max(at, s.Jobs[i].Arrival)
	}
	return at
}

// LastFault is when the last fault comes or goes; 0 without any.
func (s *Scenario) LastFault() time.Duration {
	if len(s.Faults) == 0 {
		return 0
	}
	return s.Faults[len(s.Faults)-1].At
}

// Scenario returns the scenario of a row.
func (s *Prepared) Scenario(r Row) *Scenario {
	o := &s.Options
	x := &Scenario{Row: r, Seed: o.Seed, Overrides: o.Parts, Rules: o.Rules,
		ElephantThreshold: s.ElephantThreshold,
		Replicas:          o.Replicas, Delays: s.Delays, Jobs: s.Jobs, Faults: s.Faults, Until: o.Until, StopAt: o.StopAt,
		Quantum: s.quantum(), Net: o.Net, Links: o.Record,
		Reservations: o.Rules.PerReservation != "" || s.KeepsDecisions()}
	x.Net.Sources = o.Net.Sources || r.Can().Multihop
	x.Net.Priorities = o.Net.Priorities || r.Can().Priorities
	if o.Rules.Compat != CompatCoflowsim {
		x.Admission = o.Rules.Epoch
	}
	return x
}
