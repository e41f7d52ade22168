package report

import (
	"bytes"
	"encoding/json"
	"fmt"

	"lightloom/controller"
	"lightloom/pathmap"
)

// Report is report.json. Names of fields carry their units; seconds and microseconds are decimal.
type Report struct {
	Format     int        `json:"format"` // Format
	Version    string     `json:"version"`
	Title      string     `json:"title"`
	Seed       uint64     `json:"seed"`
	Manifest   *Manifest  `json:"manifest,omitempty"`
	Percentile string     `json:"percentile_definition"`
	Workload   Workload   `json:"workload"`
	Fabric     Fabric     `json:"fabric"`
	Controller Controller `json:"controller"`
	Policies   []Policy   `json:"policies"`
	Seeds      []Paired   `json:"seeds,omitempty"` // over seeds 1 to 5 on the simulator, the demo alone
	Repeat     *Repeat    `json:"repeat,omitempty"`
	Losses     []string   `json:"losses"` // where a policy does worse than another row, in words
	Notes      []string   `json:"notes,omitempty"`

	results []PolicyResult // what the pictures are drawn from
}

// Meta holds the facts of a run that are known before it.
type Meta struct {
	Version    string
	Title      string // "demo", or what was replayed
	Seed       uint64
	Manifest   *Manifest
	Workload   Workload
	Fabric     Fabric
	Controller Controller
	Notes      []string
}

// Workload describes what was replayed.
type Workload struct {
	Source            string  `json:"source"` // "synthetic", or the trace's file name
	Jobs              int     `json:"jobs"`
	Coflows           int     `json:"coflows"`
	Flows             int64   `json:"flows"`
	BytesTotal        int64   `json:"bytes_total"`      // payload as replayed, after scaling
	BytesTrace        int64   `json:"bytes_unscaled"`   // payload before scaling: the trace's own
	Scale             float64 `json:"scale"`            // bytes and rates were divided by this
	Speedup           float64 `json:"speedup"`          // arrivals, sizes and compute times were divided by this
	ElephantThreshold int64   `json:"elephant_bytes"`   // of a rack pair and coflow, from which a circuit is worth it
	Arrivals          float64 `json:"arrivals_seconds"` // from the first arrival to the last
	Fold              string  `json:"fold,omitempty"`   // how racks of the trace became racks of the fabric
	Model             string  `json:"model,omitempty"`  // assumptions on what the trace does not hold
	Digest            string  `json:"digest,omitempty"` // of the jobs as submitted

	Background *Background `json:"background,omitempty"` // other traffic; no other figure of the workload counts it
}

// Background is traffic beside the workload.
type Background struct {
	Share float64 `json:"share"` // of what each host can send
	Model string  `json:"model"`
	Flows int     `json:"flows"`
	Bytes int64   `json:"bytes_unscaled"`
}

// Deadlines counts coflows with a deadline.
type Deadlines struct {
	Of  int `json:"of"`
	Met int `json:"met"`
}

// Fabric describes the fabric of the run.
type Fabric struct {
	Kind       string `json:"kind"` // hybrid, leafspine, crossbar, fattree, jellyfish, file
	Spec       string `json:"spec"`
	On         string `json:"on"`        // netns or flowsim
	Dataplane  string `json:"dataplane"` // ebpf, mirred, mem
	Privilege  string `json:"privilege"` // root, user, or none if the run does not use the kernel
	Racks      int    `json:"racks"`
	Hosts      int    `json:"hosts"` // of all racks
	Spines     int    `json:"spines"`
	OCSPorts   int    `json:"ocs_ports"` // of each wavelength of each OCS
	NIC        int64  `json:"nic_bits_per_second"`
	EPS        int64  `json:"eps_bits_per_second"`   // of one ToR–spine link
	OCS        int64  `json:"ocs_bits_per_second"`   // of one ToR–OCS link
	Waves      int    `json:"wavelengths,omitempty"` // circuits that a rack can have at once through an OCS; 0: one
	OCSes      int    `json:"ocses,omitempty"`       // parallel OCSes; 0: one, or none
	Congestion string `json:"congestion_control,omitempty"`
	MTU        int    `json:"mtu_bytes,omitempty"`
	QueueBytes int64  `json:"queue_bytes,omitempty"` // of a ToR–spine link
	ECNBytes   int64  `json:"ecn_bytes,omitempty"`   // before a packet, from which on it is marked
	Queues     string `json:"queues,omitempty"`      // the rule of all queues, in words
}

// Controller describes the controller.
type Controller struct {
	Replicas            int     `json:"replicas"`
	LeaderChanges       int64   `json:"leader_changes"`
	LeaderOutageSeconds float64 `json:"leader_outage_seconds"` // the longest: without a leader that has caught up
	Log                 string  `json:"log,omitempty"`         // raft, or local
	Digest              string  `json:"state_digest,omitempty"`
}

// Policy is one row. Its parts are flat in JSON.
type Policy struct {
	Name string `json:"name"`
	Completion
	Traffic
	Reconfiguration
	Packets
	Work
	Health      *Health      `json:"health,omitempty"` // of real packets
	Utilisation *Utilisation `json:"utilisation,omitempty"`
	Slower      Slower       `json:"slower_coflows"`
	Jobs        []Row        `json:"jobs,omitempty"`
	Coflows     []Row        `json:"coflows,omitempty"`
	Notes       []string     `json:"notes,omitempty"`

	Faults   []FaultRow    `json:"faults,omitempty"`
	Received []ReceivedRow `json:"received,omitempty"` // payload that all hosts received, where something failed
}

// Completion holds the completion times of jobs and coflows.
type Completion struct {
	Makespan    float64     `json:"makespan_seconds"`
	CCT         Seconds     `json:"cct_seconds"`
	JCT         Seconds     `json:"jct_seconds"`
	OverBound   Ratios      `json:"cct_over_bound"`
	Throughput  *Throughput `json:"job_throughput_bits_per_second,omitempty"` // of jobs with stages
	BoundMean   float64     `json:"bound_seconds_mean"`                       // of all coflows, 0 for those without
	Bins        []Bin       `json:"bins,omitempty"`
	WeightedCCT float64     `json:"cct_seconds_weighted_mean,omitempty"` // by the coflows' weights, where these differ
	Deadlines   *Deadlines  `json:"deadlines,omitempty"`
	Proven      *Proven     `json:"proven_gap,omitempty"` // where routes have proofs
}

// Proven are statistics of the proven gaps of coflows' routes.
type Proven struct {
	Coflows int     `json:"coflows"` // that have a proof
	P50     float64 `json:"p50"`
	P95     float64 `json:"p95"`
	Max     float64 `json:"max"`
}

// Traffic holds the bytes carried, by network.
type Traffic struct {
	BytesTotal int64 `json:"bytes_total"` // payload of all coflows
	BytesLocal int64 `json:"bytes_local"` // of these, within a host: they never enter the network
	BytesRack  int64 `json:"bytes_rack"`  // of these, between two hosts of one rack
	BytesInter int64 `json:"bytes_inter_rack"`
	ByNetwork
	OCSShare float64 `json:"ocs_share"` // bytes_ocs ÷ (bytes_ocs + bytes_eps)
}

// ByNetwork counts the bytes between racks, by network.
type ByNetwork struct {
	OCS   pathmap.Bytes `json:"bytes_ocs"`
	EPS   pathmap.Bytes `json:"bytes_eps"`
	Basis string        `json:"bytes_basis"` // what they count: "payload", or "layer 2", which includes headers
	// of a policy that has packets take several circuits in a row, on the simulator; nil: nothing is known of them
	Multihop *Multihop `json:"multihop,omitempty"`
}

// Multihop counts paths over several circuits, or over circuits and packets. A byte counts for each circuit that it
// takes, and for each time that it leaves a rack over packets.
type Multihop struct {
	Stood  int64         `json:"paths"`        // how often a pair of racks was given one
	Lost   int64         `json:"paths_lost"`   // of these, those that ended as a circuit moved or failed
	Onward pathmap.Bytes `json:"bytes_onward"` // that a rack on the way has sent on
}

// Reconfiguration holds the times that moves of circuits took.
type Reconfiguration struct {
	Reconfigurations     int64                `json:"reconfigurations"`
	ReconfigurationDelay ReconfigurationDelay `json:"reconfiguration_delay_microseconds"`
	Stages               []Stage              `json:"reconfiguration_stages_microseconds,omitempty"`
	Dark                 Dark                 `json:"dark_time_microseconds"`
}

// Packets counts the fate of packets: on the simulator, which has none, of host flows that met a dark port.
type Packets struct {
	DroppedDark     int64       `json:"packets_dropped_dark"` // at dark or unmatched ports
	DroppedQueue    int64       `json:"packets_dropped_queue"`
	Retransmissions int64       `json:"retransmissions"`           // TCP segments
	Reordered       int64       `json:"reorderings,omitempty"`     // times that TCP saw it
	Marked          int64       `json:"segments_marked,omitempty"` // by queues (ECN)
	VOQs            *VOQs       `json:"voqs,omitempty"`
	QueueDepth      *QueueDepth `json:"queue_depth,omitempty"` // of real packets
}

// Work holds the cost of deciding, and the longest time without a leader.
type Work struct {
	Anneal       Anneal  `json:"anneal"`
	Decisions    int64   `json:"decisions"`
	LeaderOutage float64 `json:"leader_outage_seconds"`
}

// VOQs are the queues at ToRs, one for each destination rack, where packets wait while their circuit is dark.
type VOQs struct {
	Limit   int64  `json:"bytes_limit"` // of each
	Queued  uint64 `json:"packets_queued"`
	Dropped uint64 `json:"packets_dropped"` // at full queues; packets_dropped_dark counts these, too
	Most    int64  `json:"bytes_most"`      // of the fullest
}

// QueueDepth is the fullest queue seen at a switch port. Samples are 50 ms apart, or more if a sample takes long.
type QueueDepth struct {
	Port string  `json:"port"`
	Most float64 `json:"bytes_most"`
	Mean float64 `json:"bytes_mean"` // over all looks; of switches that run by themselves since they began
}

// Seconds are statistics of completion times.
type Seconds struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Ratios are statistics of completion time ÷ isolated bound, over the coflows that have a bound.
type Ratios struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	Max   float64 `json:"max"`
}

// Bin is one of Varys' classes of coflows (SIGCOMM 2014, section 7.1): short if the longest flow is below 5 MB of the
// trace, narrow if there are at most 50 flows.
type Bin struct {
	Name      string  `json:"name"` // short-narrow, long-narrow, short-wide, long-wide
	Coflows   float64 `json:"coflows_share"`
	Bytes     float64 `json:"bytes_share"`
	CCT       Seconds `json:"cct_seconds"`
	OverBound Ratios  `json:"cct_over_bound"`
}

// ReconfigurationDelay compares the delay that circuit schedules assumed with the measured one.
type ReconfigurationDelay struct {
	Assumed float64 `json:"assumed"`
	Count   int     `json:"count"`
	P50     float64 `json:"p50"`
	P90     float64 `json:"p90"`
	P99     float64 `json:"p99"`
	Marked  bool    `json:"exceeds_twice_assumed"` // p90 above 2 × assumed: read the row's circuits with care
}

// Stage is one stage of the reconfiguration delays.
type Stage struct {
	Name  string  `json:"name"`
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
}

// Dark compares the configured dark time with the measured one.
type Dark struct {
	Asked  float64 `json:"asked"`
	Count  int     `json:"count"`
	P50    float64 `json:"p50"`
	P99    float64 `json:"p99"`
	Source string  `json:"source"`
}

// Anneal counts moves at both levels.
type Anneal struct {
	Place controller.MoveCounts `json:"place"`
	Route controller.MoveCounts `json:"route"`
}

// Slower counts the coflows that took longer than under the first row's policy, by more than 1 % and 1 ms.
type Slower struct {
	Count int     `json:"count"`
	Of    int     `json:"of"`
	Worst string  `json:"worst,omitempty"`
	Ratio float64 `json:"worst_ratio,omitempty"`
}

// Row is one job or coflow: enough to compare runs one by one.
type Row struct {
	ID         int32   `json:"id"`
	Name       string  `json:"name,omitempty"`
	Arrival    float64 `json:"arrival_seconds"`
	Took       float64 `json:"took_seconds"`
	Bytes      int64   `json:"bytes,omitempty"`
	Delivered  int64   `json:"bytes_delivered,omitempty"` // of a job, at its sinks
	Throughput float64 `json:"throughput_bits_per_second,omitempty"`
	Cancelled  bool    `json:"cancelled,omitempty"` // of a job: took_seconds is how long it was there
	Local      int64   `json:"bytes_local,omitempty"`
	HostFlows  int32   `json:"host_flows,omitempty"`
	Flows      int64   `json:"flows,omitempty"`
	Proof      *Proof  `json:"decision,omitempty"` // on a coflow's routes
}

// JSON returns report.json.
func (r *Report) JSON() ([]byte, error) { return encode("report.json", r) }

func encode(name string, v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, fmt.Errorf("encode %s: %w", name, err)
	}
	return b.Bytes(), nil
}
