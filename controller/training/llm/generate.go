package llm

import (
	"fmt"
	"time"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// Generate returns the workload of a job. Rank t + T·(d + D·p) is tensor-parallel rank t of data-parallel rank d in
// stage p. A stage runs microbatches in the order 1F1B: as many forward as there are stages after it, then one backward
// after each one forward. The collectives of a block's layers are one node with the bytes of all.
func Generate(j Job) (*training.Workload, error) {
	if err := j.Check(); err != nil {
		return nil, fmt.Errorf("generate %s: %w", j.Model.Name, err)
	}
	g := &generator{j: j, w: training.NewWorkload(j.Model.Name, j.Ranks()), shares: []float64{1}}
	if j.Model.Experts > 0 {
		g.shares = j.shares()
		g.w.Skews = [][]float64{g.shares}
	}
	g.groups()
	for r := range j.Ranks() {
		b := &builder{generator: g, rank: r, t: r % j.Tensor, d: r / j.Tensor % j.Data, p: r / j.Tensor / j.Data, before: -1}
		for range j.Iterations {
			b.iteration()
		}
	}
	return g.w, nil
}

// generator is a workload being made.
type generator struct {
	j      Job
	w      *training.Workload
	shares []float64

	tensor, data, experts, spread []int32 // by rank: its communicators; spread is that of the experts' all-to-all
}

// groups makes the communicators of all ranks.
func (g *generator) groups() {
	n, j := g.j.Ranks(), &g.j
	e := j.expertRanks()
	rank := func(t, d, p int) int32 { return int32(t + j.Tensor*(d+j.Data*p)) }
	g.tensor, g.data, g.experts, g.spread = make([]int32, n), make([]int32, n), make([]int32, n), make([]int32, n)
	for p := range j.Pipeline {
		for d := range j.Data {
			g.group(g.tensor, fmt.Sprintf("TP %d.%d", d, p), j.Tensor, func(i int) int32 { return rank(i, d, p) })
		}
		for t := range j.Tensor {
			g.group(g.data, fmt.Sprintf("DP %d.%d", t, p), j.Data, func(i int) int32 { return rank(t, i, p) })
			for k := range e {
				g.group(g.experts, fmt.Sprintf("DP experts %d.%d.%d", t, k, p), j.Data/e,
					func(i int) int32 { return rank(t, i*e+k, p) })
			}
			for k := range j.Data / e {
				g.group(g.spread, fmt.Sprintf("EP %d.%d.%d", t, k, p), e, func(i int) int32 { return rank(t, k*e+i, p) })
			}
		}
	}
}

// group adds a communicator, unless it would have one rank.
func (g *generator) group(of []int32, name string, n int, rank func(int) int32) {
	if n < 2 {
		return
	}
	x := training.Group{Name: name}
	for i := range n {
		x.Ranks = append(x.Ranks, rank(i))
		of[rank(i)] = int32(len(g.w.Groups))
	}
	g.w.Groups = append(g.w.Groups, x)
}

// builder makes the nodes of one rank.
type builder struct {
	*generator
	rank, t, d, p int
	before        int32 // the last node of the rank's order; -1: none
	ends          []int32
	count         int // microbatches of all iterations before
}

// add adds a node after the one before it.
func (b *builder) add(n training.Node, more ...int32) int32 {
	for _, a := range append(more, b.before) {
		if a >= 0 {
			n.After = append(n.After, a)
		}
	}
	b.before = b.w.Add(b.rank, n)
	return b.before
}

// iteration adds all microbatches, and a node that waits for everything.
func (b *builder) iteration() {
	micros := b.j.micros()
	ahead := min(b.j.Pipeline-b.p-1, micros)
	for i := range ahead {
		b.forward(i)
	}
	for i := range micros {
		if i+ahead < micros {
			b.forward(i + ahead)
		}
		b.backward(i, i == micros-1)
	}
	b.add(training.Node{Name: "step", Kind: training.Nothing}, b.ends...)
	b.ends = nil
	b.count += micros
}

// peer returns the rank at the same place of another stage.
func (b *builder) peer(stages int) int32 { return int32(b.rank + stages*b.j.Tensor*b.j.Data) }

// move adds a message of a microbatch between stages. The rank does not wait until what it sends has left.
func (b *builder) move(kind training.Kind, stages, micro, back int) int32 {
	n := training.Node{Name: fmt.Sprintf("PP %v %d", kind, micro), Kind: kind, Phase: training.PipelineParallel,
		Peer: b.peer(stages), Tag: int32(2*(b.count+micro) + back), Bytes: size(b.j.activations() / float64(b.j.Tensor))}
	if b.before >= 0 && (kind == training.Send || b.count > 0) {
		n.After = []int32{b.before}
	}
	id := b.w.Add(b.rank, n)
	if kind == training.Send {
		b.ends = append(b.ends, id)
	}
	return id
}

// size returns bytes of a node, at least 1. What is too much for one stays so.
func size(x float64) pathmap.Bytes {
	return max(pathmap.Bytes(min(x, float64(training.MostBytes)+1)), 1)
}

func (b *builder) forward(micro int) {
	got := int32(-1)
	if b.p > 0 {
		got = b.move(training.Receive, -1, micro, 0)
	}
	for k := range b.j.Blocks {
		b.block("forward", micro, k, 1, got)
		got = -1
	}
	if b.p < b.j.Pipeline-1 {
		b.move(training.Send, 1, micro, 0)
	}
}

// backward adds a microbatch on its way back. After the last one the gradients of a block are summed up while the next
// is computed.
func (b *builder) backward(micro int, last bool) {
	got := int32(-1)
	if b.p < b.j.Pipeline-1 {
		got = b.move(training.Receive, 1, micro, 1)
	}
	for k := b.j.Blocks - 1; k >= 0; k-- {
		b.block("backward", micro, k, 2, got)
		got = -1
		if last {
			dense, experts := b.j.gradients(b.p, k)
			b.sum(b.data[b.rank], dense)
			b.sum(b.experts[b.rank], experts)
		}
	}
	if b.p > 0 {
		b.move(training.Send, -1, micro, 1)
	}
}

// sum adds the all-reduce of gradients, which nothing but the next iteration waits for.
func (b *builder) sum(group int32, bytes pathmap.Bytes) {
	if group == training.World || bytes == 0 {
		return
	}
	b.ends = append(b.ends, b.w.Add(b.rank, training.Node{Name: "DP gradients", Kind: training.Collective,
		Op: training.AllReduce, Group: group, Bytes: bytes, Phase: training.DataParallel, After: []int32{b.before}}))
}

// block adds the layers of a block: times is 1 forward and 2 backward. With experts, attention comes first and the
// tokens of all layers of the block are sent to them together.
func (b *builder) block(way string, micro, k, times int, after int32) {
	j := &b.j
	if j.Model.Experts == 0 || b.spread[b.rank] == training.World {
		b.compute(way, micro, k, times, 1, 0, after)
	} else {
		e := j.expertRanks()
		part := b.shares[b.d%e] * float64(e)
		b.compute(way, micro, k, times, 0, 0, after)
		b.exchange(way+" to experts", false)
		b.compute(way, micro, k, times, part, part, -1)
		b.exchange(way+" from experts", true)
	}
	if group := b.tensor[b.rank]; group != training.World {
		b.add(training.Node{Name: "TP " + way, Kind: training.Collective, Op: training.AllReduce, Group: group,
			Bytes: size(2 * float64(j.layers()) * j.activations()), Phase: training.TensorParallel})
	}
}

// compute adds the work of a block with so much of its experts; only is above 0 where the rest is left out.
func (b *builder) compute(way string, micro, k, times int, part, only float64, after int32) {
	took := b.j.computing(b.p, k, part)
	if only > 0 {
		took -= b.j.computing(b.p, k, 0)
	}
	b.add(training.Node{Name: fmt.Sprintf("%s %d.%d", way, micro, k), Kind: training.Compute,
		Duration: took * time.Duration(times)}, after)
}

// exchange adds the all-to-all of a block's tokens to the experts, or back.
func (b *builder) exchange(name string, back bool) {
	j := &b.j
	bytes := float64(j.layers()) * j.activations() * float64(j.Model.Used) / float64(j.Tensor)
	b.add(training.Node{Name: "EP " + name, Kind: training.Collective, Op: training.AllToAll, Group: b.spread[b.rank],
		Bytes: size(bytes), Skew: 1, Combine: back, Phase: training.ExpertParallel})
}
