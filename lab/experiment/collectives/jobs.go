package collectives

import (
	"fmt"
	"time"

	"lightloom/controller/collective"
	"lightloom/controller/phases"
	"lightloom/controller/topoeng"
	"lightloom/pathmap"
)

// model is a language model that a job trains.
type model struct {
	name              string
	hidden, layers    int
	active            float64 // parameters that a token meets
	shared            float64 // parameters that every data-parallel rank has; all of them in a dense model
	expertsOf, choose int     // experts of a layer, and how many a token goes to; 0 in a dense model
}

func (m model) String() string { return m.name }

// models are dense ones of 7 and 70 billion parameters, and one of 8 experts: 46.7 billion, 12.9 of them active, and
// 45.1 in experts (8 × 3 × 4,096 × 14,336 × 32).
func models() []model {
	return []model{
		{name: "dense 7 B", hidden: 4096, layers: 32, active: 7e9, shared: 7e9},
		{name: "dense 70 B", hidden: 8192, layers: 80, active: 70e9, shared: 70e9},
		{name: "MoE 8×7 B", hidden: 4096, layers: 32, active: 12.9e9, shared: 1.6e9, expertsOf: 8, choose: 2},
	}
}

// The job: degrees of parallelism, the batch, and what a GPU reaches.
const (
	dataRanks, tensorRanks, stages = 8, 8, 4
	batch, sequence                = 1024, 4096 // sequences, tokens
	flops                          = 400e12 * 0.45
	bytesOf                        = 2 // bf16
	nic                            = 400 * pathmap.Gbps
)

// racks are servers of 8 GPUs, which tensor parallelism does not leave: one for each data-parallel rank and stage. GPU
// t of every server is on rail t; rails are alike, and one of them is looked at.
const racks = dataRanks * stages

func rack(data, stage int) int { return data*stages + stage }

// demand makes one of what each rack sends: send is called with the data-parallel rank and the stage of each.
func demand(send func(data, stage int, to func(data, stage int, bytes float64))) topoeng.Demand {
	d := make(topoeng.Demand, racks)
	for i := range d {
		d[i] = make([]float64, racks)
	}
	for data := range dataRanks {
		for stage := range stages {
			send(data, stage, func(otherData, otherStage int, bytes float64) {
				if a, b := rack(data, stage), rack(otherData%dataRanks, otherStage); a != b {
					d[a][b] += bytes
				}
			})
		}
	}
	return d
}

// pipeline is a micro-batch of one sequence: its activations go to the next stage, and their gradients back. Each
// tensor-parallel rank has its share of the tokens: sequence × hidden × 2 ÷ 8 bytes.
func (m model) pipeline() []phases.Form {
	bytes := sequence * float64(m.hidden) * bytesOf / tensorRanks
	return []phases.Form{{Name: "pipeline", Demand: demand(func(data, stage int, to func(int, int, float64)) {
		if stage < stages-1 {
			to(data, stage+1, bytes)
		}
		if stage > 0 {
			to(data, stage-1, bytes)
		}
	})}}
}

// gradients are all-reduced over 8 data-parallel ranks: G = 2 × shared parameters ÷ (8 × 4) bytes of a GPU, of which a
// ring sends 2 × 7/8 to its next rank, and a direct exchange 2 × 1/8 to each other one.
func (m model) gradients() []phases.Form {
	bytes := bytesOf * m.shared / (tensorRanks * stages)
	return []phases.Form{
		{Name: "ring", Demand: demand(func(data, stage int, to func(int, int, float64)) {
			to(data+1, stage, 2*bytes*(dataRanks-1)/dataRanks)
		})},
		{Name: "direct", Demand: demand(func(data, stage int, to func(int, int, float64)) {
			for k := 1; k < dataRanks; k++ {
				to(data+k, stage, 2*bytes/dataRanks)
			}
		})},
	}
}

// experts is one all-to-all of a layer: each token of a rank's share goes to 2 of 8 experts, one on each data-parallel
// rank: sequence ÷ 8 × 2 × hidden × 2 bytes, an eighth to each rank; gates are even. It goes directly, or is relayed
// over circuits of as many strides as a rack has circuits, or two fewer, which leaves two to the pipeline.
func (m model) experts(circuits int) []phases.Form {
	each := sequence / tensorRanks * float64(m.choose*m.hidden*bytesOf) / dataRanks
	out := []phases.Form{{Name: "direct", Demand: demand(func(data, stage int, to func(int, int, float64)) {
		for k := 1; k < dataRanks; k++ {
			to(data+k, stage, each)
		}
	})}}
	for _, strides := range []int{circuits, circuits - 2} {
		load := relayed(strides)
		name := fmt.Sprintf("relayed over %d", strides)
		out = append(out, phases.Form{Name: name, Demand: demand(func(data, stage int, to func(int, int, float64)) {
			for k, times := range load {
				to(data+k, stage, times*each)
			}
		})})
	}
	return out
}

// relayed returns how many times what a rank sends to another one it sends, by stride, in an all-to-all of 8 ranks over
// circuits of so many strides: of all sets of strides, that with the least on its busiest.
func relayed(circuits int) (best [dataRanks]float64) {
	least := pathmap.MaxDuration
	for set := 1; set < 1<<dataRanks; set++ {
		n := &collective.Network{Nodes: dataRanks}
		var strides []int
		for k := 1; k < dataRanks; k++ {
			if set>>k&1 == 1 {
				strides = append(strides, k)
			}
		}
		for i := range dataRanks {
			for _, k := range strides {
				n.Links = append(n.Links, collective.Link{From: int32(i), To: int32((i + k) % dataRanks), Rate: pathmap.Gbps})
			}
		}
		if set&1 == 1 || len(strides) != circuits || n.Check() != nil {
			continue
		}
		const parts = 4
		s, _, err := collective.AllToAll(n, parts, 1000)
		if err != nil || s.Ends >= least {
			continue
		}
		least, best = s.Ends, [dataRanks]float64{}
		for _, x := range s.Sends {
			l := n.Links[x.Link]
			best[(l.To-l.From+dataRanks)%dataRanks] += 1.0 / parts / dataRanks
		}
	}
	return best
}

// iteration is what a job repeats. Of batch ÷ 8 micro-batches, a stage works at one, forward and backward, for
// 6 × active parameters × 4,096 ÷ (8 × 4) ÷ 180 Tflop/s; with the 3 that fill and drain the pipeline (1F1B) there are
// 131 steps. The pipeline sends while it computes. In each layer of a stage with experts two all-to-alls go forward and
// two backward, and nothing computes beside them. Gradients follow at the end.
func (m model) iteration(circuits int) []phases.Phase {
	step := 6 * m.active * sequence / (tensorRanks * stages) / flops
	parts := 1
	var experts []phases.Form
	if m.expertsOf > 0 {
		parts += 4 * m.layers / stages
		experts = m.experts(circuits)
	}
	long := time.Duration(step / float64(parts) * 1e9)
	pipeline := m.pipeline()
	var out []phases.Phase
	for range batch/dataRanks + stages - 1 {
		out = append(out, phases.Phase{Kind: phases.PP, Compute: long, Overlap: true, Forms: pipeline})
		for range parts - 1 {
			out = append(out, phases.Phase{Kind: phases.EP, Compute: long, Forms: experts})
		}
	}
	return append(out, phases.Phase{Kind: phases.DP, Forms: m.gradients()})
}

// split is how a NIC's four lanes of 100 Gb/s are joined to circuits and packets.
type split struct{ circuits int }

func (s split) String() string {
	if s.circuits == 4 {
		return "4 circuits of 100 Gb/s, no packets"
	}
	return fmt.Sprintf("%d circuits and %d × 100 Gb/s of packets", s.circuits, 4-s.circuits)
}

func (s split) fabric(delta time.Duration) phases.Fabric {
	return phases.Fabric{Racks: racks, Switches: s.circuits, Circuit: nic / 4,
		Packets: nic / 4 * pathmap.BitsPerSecond(4-s.circuits), Delta: delta}
}
