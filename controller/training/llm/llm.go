// Package llm generates the training job of a language model from its sizes and the degrees of its parallelism. Every
// time and size follows from a formula that is written where it is used; nothing is measured.
//
// Per token and layer, with hidden size h, feed-forward size f, k of the key and value heads for each query head, and
// sequences of s tokens (Narayanan et al., SC 2021, section 5.1, and Shoeybi et al., 2019):
//
//   - parameters: attention 2h²(1+k), a gated feed-forward network 3hf, times the experts where there are some;
//   - forward: two operations a parameter that is used, and 4sh for the attention; backward: twice as many;
//   - tensor parallelism: two all-reduces of h elements forward, and two backward;
//   - pipeline parallelism: h elements to the next stage and back, split among the tensor-parallel ranks;
//   - data parallelism: one all-reduce of the gradients of a rank;
//   - expert parallelism: h elements to each of the experts that a token uses, and back, forward and backward, split
//     among the tensor-parallel ranks.
//
// Elements have two bytes (bf16). The first stage has the embedding and the last one the output, hV parameters each.
package llm

import (
	"fmt"
	"math"
	"strings"
	"time"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// Model is the sizes of a model.
type Model struct {
	Name    string
	Layers  int
	Hidden  int
	Forward int     // size of the feed-forward network
	KV      float64 // key and value heads for each query head
	Words   int     // of the vocabulary
	Experts int     // 0: dense
	Used    int     // experts that a token uses
}

// Models returns the models that jobs are generated for: with the published sizes of Llama 2 (7 and 70 billion
// parameters) and of Mixtral 8×7B.
func Models() []Model {
	return []Model{
		{Name: "dense-7b", Layers: 32, Hidden: 4096, Forward: 11008, KV: 1, Words: 32000},
		{Name: "dense-70b", Layers: 80, Hidden: 8192, Forward: 28672, KV: 8.0 / 64, Words: 32000},
		{Name: "moe-8x7b", Layers: 32, Hidden: 4096, Forward: 14336, KV: 8.0 / 32, Words: 32000, Experts: 8, Used: 2},
	}
}

// ModelOf returns the model of a name.
func ModelOf(name string) (Model, error) {
	var names []string
	for _, m := range Models() {
		if m.Name == name {
			return m, nil
		}
		names = append(names, m.Name)
	}
	return Model{}, fmt.Errorf("there is no model %q: write %s", name, strings.Join(names, ", "))
}

// Job is how a model is trained.
type Job struct {
	Model      Model
	Data       int // degrees of parallelism; ranks are their product
	Tensor     int
	Pipeline   int
	Expert     int     // data-parallel ranks among which the experts are spread; it divides Data
	Batch      int     // sequences of an iteration
	Micro      int     // sequences of a microbatch
	Tokens     int     // of a sequence
	Speed      float64 // operations a second that a rank reaches
	Blocks     int     // into which a stage is cut, for gradients to be sent while others are computed
	Skew       float64 // the experts' shares fall as 1/rank^Skew (Zipf); 0: all alike
	Iterations int
}

// Default returns a job with the degrees 8×8×4×8 on 256 ranks, 1,024 sequences of 4,096 tokens, and ranks of 400
// Tflop/s of which 45 % are reached.
func Default(m Model) Job {
	return Job{Model: m, Data: 8, Tensor: 8, Pipeline: 4, Expert: 8, Batch: 1024, Micro: 4, Tokens: 4096,
		Speed: 400e12 * .45, Blocks: 4, Iterations: 1}
}

// Ranks returns the ranks of a job.
func (j *Job) Ranks() int { return j.Data * j.Tensor * j.Pipeline }

// most bounds a job.
const (
	mostRanks = 1 << 14
	mostNodes = 8 << 20
	mostValue = 1 << 24
)

// Check refuses a job that cannot be.
func (j *Job) Check() error {
	for _, x := range []struct {
		name  string
		value int
	}{{"data", j.Data}, {"tensor", j.Tensor}, {"pipeline", j.Pipeline}, {"expert", j.Expert}, {"batch", j.Batch},
		{"micro", j.Micro}, {"tokens", j.Tokens}, {"blocks", j.Blocks}, {"iterations", j.Iterations}} {
		if x.value < 1 || x.value > mostValue {
			return fmt.Errorf("%s is %d: write 1 to %d", x.name, x.value, mostValue)
		}
	}
	m := &j.Model
	switch {
	case j.Data > mostRanks || j.Tensor > mostRanks || j.Pipeline > mostRanks || j.Data*j.Tensor > mostRanks ||
		j.Ranks() > mostRanks:
		return fmt.Errorf("data × tensor × pipeline are %d×%d×%d ranks, more than %d", j.Data, j.Tensor, j.Pipeline,
			mostRanks)
	case m.Layers%(j.Pipeline*j.Blocks) != 0:
		return fmt.Errorf("%d layers cannot be split into %d stages of %d blocks each: write other degrees", m.Layers,
			j.Pipeline, j.Blocks)
	case j.Batch%(j.Data*j.Micro) != 0:
		return fmt.Errorf("a batch of %d sequences cannot be split into microbatches of %d on %d data-parallel ranks",
			j.Batch, j.Micro, j.Data)
	case m.Experts > 0 && (j.Data%j.Expert != 0 || m.Experts%j.Expert != 0):
		return fmt.Errorf("%d experts cannot be spread over %d of %d data-parallel ranks", m.Experts, j.Expert, j.Data)
	case !(j.Speed > 0) || math.IsInf(j.Speed, 0):
		return fmt.Errorf("the speed is %v operations a second", j.Speed)
	case !(j.Skew >= 0) || j.Skew > 10:
		return fmt.Errorf("the skew is %v: write 0 to 10", j.Skew)
	}
	if j.computing(j.Pipeline-1, j.Blocks-1, 1) >= training.MostTime {
		return fmt.Errorf("at a speed of %v operations a second a block takes longer than 104 days: write more, such as 1e14",
			j.Speed)
	}
	if nodes := j.Ranks() * j.Iterations * j.micros() * j.Blocks * 12; nodes > mostNodes {
		return fmt.Errorf("the job would have some %d nodes, more than %d: use larger microbatches or fewer blocks", nodes,
			mostNodes)
	}
	return nil
}

// micros returns the microbatches of a data-parallel rank.
func (j *Job) micros() int { return j.Batch / j.Data / j.Micro }

// expertRanks returns among how many ranks experts are spread; 1 for a dense model.
func (j *Job) expertRanks() int {
	if j.Model.Experts == 0 {
		return 1
	}
	return j.Expert
}

// layers returns those of a block.
func (j *Job) layers() int { return j.Model.Layers / j.Pipeline / j.Blocks }

// attention returns the parameters of a layer outside of its feed-forward network.
func (m *Model) attention() float64 { return 2 * float64(m.Hidden) * float64(m.Hidden) * (1 + m.KV) }

// feed returns the parameters of one feed-forward network.
func (m *Model) feed() float64 { return 3 * float64(m.Hidden) * float64(m.Forward) }

// computing returns how long a microbatch takes in a block, forward; part is the work of this rank's experts beside
// what they would have if all got alike.
func (j *Job) computing(stage, block int, part float64) time.Duration {
	m := &j.Model
	layer := 2*m.attention() + 4*float64(j.Tokens)*float64(m.Hidden) + 2*m.feed()*float64(max(m.Used, 1))*part
	ops := float64(j.layers()) * layer
	if stage == j.Pipeline-1 && block == j.Blocks-1 {
		ops += 2 * float64(m.Hidden) * float64(m.Words)
	}
	ops *= float64(j.Micro * j.Tokens)
	return time.Duration(min(ops/float64(j.Tensor)/j.Speed*1e9, float64(training.MostTime)))
}

// activations returns the bytes of a microbatch between two layers.
func (j *Job) activations() float64 { return float64(j.Micro*j.Tokens) * float64(j.Model.Hidden) * 2 }

// gradients returns the bytes of a block's gradients on a rank, those of experts apart.
func (j *Job) gradients(stage, block int) (dense, experts pathmap.Bytes) {
	m := &j.Model
	d, e := float64(j.layers())*m.attention(), 0.0
	if m.Experts == 0 {
		d += float64(j.layers()) * m.feed()
	} else {
		e = float64(j.layers()) * m.feed() * float64(m.Experts) / float64(j.Expert)
	}
	if stage == 0 && block == 0 || stage == j.Pipeline-1 && block == j.Blocks-1 {
		d += float64(m.Hidden) * float64(m.Words)
	}
	per := 2 / float64(j.Tensor)
	return pathmap.Bytes(d * per), pathmap.Bytes(e * per)
}

// shares returns what part of the tokens goes to the experts of each rank of an expert-parallel communicator.
func (j *Job) shares() []float64 {
	out, sum := make([]float64, j.Expert), 0.0
	for e := range j.Model.Experts {
		w := math.Pow(float64(e+1), -j.Skew)
		out[e*j.Expert/j.Model.Experts] += w
		sum += w
	}
	for i := range out {
		out[i] /= sum
	}
	return out
}
