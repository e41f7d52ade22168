package scenario

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/emulator/fault"
	"lightloom/emulator/netns"
	"lightloom/pathmap"
)

// Scenario is the input of one row of a report: jobs and faults on a fabric, under one policy and one seed. It is plain
// data, and crosses to the process in the namespaces as JSON. Instants count from the run's begin.
type Scenario struct {
	Row               Row              `json:"row"`
	Seed              uint64           `json:"seed"`
	Overrides         policy.Overrides `json:"overrides"`
	Redecide          policy.Redecide  `json:"redecide,omitempty"` // empty: when the policy wants
	ElephantThreshold pathmap.Bytes    `json:"elephant_threshold"`
	Replicas          int              `json:"replicas"`
	Delays            string           `json:"delays,omitempty"` // the delay budget, as --delays

	Jobs   []controller.Job `json:"jobs"`             // by arrival, as admitted
	Faults []fault.Event    `json:"faults,omitempty"` // by instant
	Until  time.Duration    `json:"until,omitempty"`  // what has not ended then is cancelled; 0: never
	// the run stops then, whatever still runs; 0: when all jobs have ended
	StopAt time.Duration `json:"stop_at,omitempty"`

	OneAtATime bool          `json:"one_at_a_time,omitempty"` // each job arrives when the one before has ended
	Admission  time.Duration `json:"admission,omitempty"`     // jobs are submitted at its multiples; 0: when they arrive
	CarryLocal bool          `json:"carry_local,omitempty"`   // bytes between a host and itself take its port
	Quantum    time.Duration `json:"quantum,omitempty"`       // flows end at its multiples; 0: when they end

	Proportional bool `json:"proportional,omitempty"` // TCP on the simulator shares proportionally, not max-min fairly

	Net    netns.Options `json:"net"` // of real packets
	Record Record        `json:"record"`
}

// Record selects what a run records in addition.
type Record struct {
	Queues   bool `json:"queues,omitempty"`   // what waits at every port
	Circuits bool `json:"circuits,omitempty"` // what every circuit carries
	Links    bool `json:"links,omitempty"`    // what passes packet links over time
	Explain  bool `json:"explain,omitempty"`  // why tasks and flows go where they do

	Reservations bool `json:"reservations,omitempty"` // how every circuit reservation was used
	HostFlows    bool `json:"host_flows,omitempty"`   // what TCP did to every host flow
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
	o, rules := &s.Options, &s.Options.Rules
	x := &Scenario{Row: r, Seed: o.Seed, Overrides: o.Parts, Redecide: rules.Redecide,
		ElephantThreshold: s.ElephantThreshold,
		Replicas:          o.Replicas, Delays: o.Delays, Jobs: s.Jobs, Faults: s.Faults, Until: o.Until, StopAt: o.StopAt,
		OneAtATime: rules.OneAtATime, CarryLocal: rules.CarryLocal, Quantum: s.quantum(),
		Proportional: rules.Proportional, Net: o.Net,
		Record: Record{Queues: rules.PerQueue != "", Circuits: rules.PerCircuit != "", Links: o.Links,
			Explain: rules.Explain != "", Reservations: rules.PerReservation != "", HostFlows: rules.PerHostFlow != ""}}
	if rules.Compat != CompatCoflowsim {
		x.Admission = rules.Epoch
	}
	return x
}
