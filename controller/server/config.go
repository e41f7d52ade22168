package server

import (
	"fmt"
	"hash/fnv"
	"time"

	"lightloom/controller/demand"
	"lightloom/controller/policy"
	"lightloom/controller/replica"
	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound/inventory"
	"lightloom/southbound/pki"
)

// ReplicaCommand is the command that a controller starts its replicas with. Users do not type it.
const ReplicaCommand = "replica-process"

// ReplicaConfig is the configuration of a replica's process. The process reads it as one JSON object from its standard
// input: it holds a private key, so it is neither an argument nor a file.
type ReplicaConfig struct {
	ID                string            `json:"id"`
	Peers             []replica.Peer    `json:"peers"`
	API               map[string]string `json:"api"`     // northbound addresses, by id
	Dir               string            `json:"dir"`     // its state directory
	Cluster           string            `json:"cluster"` // that the state directory is of
	Epoch             time.Time         `json:"epoch"`   // instant 0 of the run
	Spec              topo.Spec         `json:"spec"`
	Policy            string            `json:"policy"`
	Overrides         policy.Overrides  `json:"overrides"`
	Demand            demand.Options    `json:"demand"`
	Rollout           rollout.Options   `json:"rollout"`
	Seed              uint64            `json:"seed"`
	ElephantThreshold pathmap.Bytes     `json:"elephant_threshold"`
	Delays
	Agent  string                `json:"agent"`            // address of one for all hosts; or
	Agents []inventory.AgentSite `json:"agents,omitempty"` // several
	// secrets and certificates in them are named, not written
	Devices inventory.Devices `json:"devices"`
	// clusters that have programmed the same devices before
	Earlier  uint64         `json:"earlier,omitempty"`
	Identity IdentityConfig `json:"identity"`
	Verbose  bool           `json:"verbose,omitempty"`
	// interval between the switches' counter reports; 0: none
	Sample time.Duration `json:"sample,omitempty"`
	Records
	Parent
	Ages
	Telemetry
}

// Telemetry is where a replica tells programs of others what it does.
type Telemetry struct {
	Metrics string `json:"metrics,omitempty"` // address at which it serves metrics; empty: none
	Traces  string `json:"traces,omitempty"`  // URL of a collector of OpenTelemetry; empty: none
}

// Delays are the reconfiguration delays that circuit moves should take.
type Delays struct {
	Delta  time.Duration   `json:"delta"`
	Deltas []time.Duration `json:"deltas,omitempty"` // of each OCS, where they differ, and Delta is the longest
}

// Parent is what a replica knows of the process that started it.
type Parent struct {
	Leave       string `json:"leave,omitempty"`        // directory of this run alone, to remove when that has exited
	FixedCables bool   `json:"fixed_cables,omitempty"` // it emulates the fabric, whose cables cannot be moved
	Replay      bool   `json:"replay,omitempty"`       // it submits a recorded run, whose jobs arrive when it says
	OwnLogs     bool   `json:"own_logs,omitempty"`     // logs are of this run alone: nobody puts old ones in their place
	FewQueues   bool   `json:"few_queues,omitempty"`   // ports have queues for the lowest and the highest priority only

	// how long a leader can be silent before others stand for election, and lack a majority before it gives up; 0: the
	// default of package replica. A leader's lease follows from it, so all replicas of a cluster must have the same.
	Silence time.Duration `json:"silence,omitempty"`
	// how long a switch may take for a claim, with its dial, a Set or a read, where its record does not say; 0: the
	// default of package leader
	Within time.Duration `json:"within,omitempty"`
	// how far its process lets memory grow before it collects garbage, in percent of what is in use; 0: as Go does
	Garbage Garbage `json:"garbage"`
}

// Ages are how long a replica remembers, and how often it began again.
type Ages struct {
	// how long jobs and request ids are known after their end; 0: for good
	Retention time.Duration `json:"retention,omitempty"`
	Restarts  int           `json:"restarts,omitempty"` // how often its process has ended and was started again
}

// IdentityConfig is who a replica is, and whom it takes for admins.
type IdentityConfig struct {
	PEM    []byte    `json:"pem,omitempty"`    // its keys, for as long as the process lives; or
	Files  pki.Paths `json:"files,omitzero"`   // where they are, read again when they change
	Admins []string  `json:"admins,omitempty"` // names in client certificates that are admins, whatever is granted
	Socket string    `json:"socket,omitempty"` // path of a Unix socket for admins of this machine; empty: none
}

// open reads a replica's keys.
func (c *IdentityConfig) open(id string) (*pki.Source, error) {
	var s *pki.Source
	if c.PEM != nil {
		who, err := pki.ParseIdentity(c.PEM)
		if err != nil {
			return nil, err
		}
		s = pki.Static(who)
	} else {
		var err error
		if s, err = pki.Open(c.Files); err != nil {
			return nil, err
		}
	}
	if who := s.Identity(); who.Role() != pki.Controller || who.Name() != id {
		return nil, fmt.Errorf("the certificate is of %s, not of %s/%s", who, pki.Controller, id)
	}
	return s, nil
}

// Records are the files that all replicas of a run share, and to which leaders add a line at a time; empty: none.
type Records struct {
	Explain    string `json:"explain,omitempty"`     // why tasks and host flows went where they did
	ProofsOnly bool   `json:"proofs_only,omitempty"` // of that only how good routings are, which costs nothing more
	Usages     string `json:"usages,omitempty"`      // how each circuit reservation was used
	// have the policy explain its decisions, for which annealing takes about twice as long, and count what devices were
	// asked for and have accepted: for those who ask
	Reasons bool      `json:"reasons,omitempty"`
	Lab     LabWiring `json:"lab,omitzero"`
}

// ElectionHigh is the upper half of an election id: a later term's is larger, and that of a later cluster that programs
// the same devices larger still. A run has devices of its own, and is the first.
func (c *ReplicaConfig) ElectionHigh(term uint64) uint64 { return (c.Earlier+1)<<48 | term }

// ElectionLow is the lower half: of two clusters that do not know of each other, in the same term, one has the larger
// id, so that a device obeys one of them. A later round of a term has the larger.
func (c *ReplicaConfig) ElectionLow(round uint64) uint64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(c.Cluster)) // it never fails
	return uint64(h.Sum32())<<32 | round
}

// DefaultSamplePeriod is the default interval between the switches' counter reports. Large emulated
// fabrics, whose switches and hosts share the machine's processors, have a longer one.
const DefaultSamplePeriod = time.Second
