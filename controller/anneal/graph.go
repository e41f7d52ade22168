package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/controller"
)

// graph is a job's dataflow graph by task: who talks to whom over which edge. Edges without bytes, and
// fixed flows, are left out: no placement changes them. So are streams from a stage to itself.
type graph struct {
	stage []int32 // by task
	first []int   // by stage: its first task
	size  []int   // by stage
	edges []controller.Edge
	index []int   // by edge: its place in the job
	draw  []int64 // running sums of the de-allocation weights, by task
	sink  []int32 // by stage: its number among the stages that read and do not send; -1 for the others
	sinks int     // how many
	sizes []int32 // by task: the slots that it takes; nil where each takes one
}

func newGraph(j *controller.Job) *graph {
	g := &graph{sizes: j.Sizes()}
	for s := range j.Stages {
		first, end := j.StageTasks(s)
		g.first, g.size = append(g.first, first), append(g.size, end-first)
		for range end - first {
			g.stage = append(g.stage, int32(s))
		}
	}
	for k, e := range j.Edges {
		if e.Kind != controller.Fixed && e.Bytes > 0 && e.From != e.To {
			g.edges, g.index = append(g.edges, e), append(g.index, k)
		}
	}
	g.weigh()
	g.findSinks()
	return g
}

// need returns how many slots a task takes.
func (g *graph) need(t int) int32 {
	if g.sizes == nil {
		return 1
	}
	return g.sizes[t]
}

func (g *graph) findSinks() {
	feeds, reads := make([]bool, len(g.size)), make([]bool, len(g.size))
	for _, e := range g.edges {
		feeds[e.From], reads[e.To] = true, true
	}
	g.sink = make([]int32, len(g.size))
	for s := range g.sink {
		g.sink[s] = -1
		if reads[s] && !feeds[s] {
			g.sink[s] = int32(g.sinks)
			g.sinks++
		}
	}
}

// upstream returns for each stage whether its output can reach stage to.
func (g *graph) upstream(to int) []bool {
	found := make([]bool, len(g.size))
	stack := []int{to}
	for len(stack) > 0 {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for i := range g.edges {
			if e := &g.edges[i]; e.To == s && !found[e.From] {
				found[e.From] = true
				stack = append(stack, e.From)
			}
		}
	}
	return found
}

// weigh computes the document's de-allocation priorities: for each task the number of source and sink
// tasks next to it.
func (g *graph) weigh() {
	feeds, reads := make([]bool, len(g.size)), make([]bool, len(g.size))
	for _, e := range g.edges {
		feeds[e.From], reads[e.To] = true, true
	}
	end := func(stage int) bool { return feeds[stage] != reads[stage] }
	weight := make([]int64, len(g.stage))
	for k := range g.edges {
		e := &g.edges[k]
		for _, s := range [2][2]int{{e.From, e.To}, {e.To, e.From}} {
			if !end(s[1]) {
				continue
			}
			for t := g.first[s[0]]; t < g.first[s[0]]+g.size[s[0]]; t++ {
				lo, hi := g.partners(e, t)
				weight[t] += int64(hi - lo)
			}
		}
	}
	sum := int64(0)
	g.draw = make([]int64, len(weight))
	for t, w := range weight {
		sum += w
		g.draw[t] = sum
	}
}

// partners returns the half-open range of the tasks that a task talks to over an edge of its stage.
func (g *graph) partners(e *controller.Edge, t int) (lo, hi int) {
	mine, theirs := e.From, e.To
	if int(g.stage[t]) == e.To {
		mine, theirs = e.To, e.From
	}
	if e.Kind == controller.OneToOne {
		i := g.first[theirs] + t - g.first[mine]
		return i, i + 1
	}
	if e.Kind == controller.Global {
		switch {
		case mine == e.From:
			return g.first[theirs], g.first[theirs] + 1
		case t != g.first[mine]:
			return g.first[theirs], g.first[theirs]
		}
	}
	return g.first[theirs], g.first[theirs] + g.size[theirs]
}

// pick draws a task: by its weight, or uniformly in a share of the draws and where all weights are zero.
func (g *graph) pick(uniform float64, rng *rand.Rand) int {
	n := len(g.draw)
	sum := g.draw[n-1]
	if sum == 0 || rng.Float64() < uniform {
		return rng.IntN(n)
	}
	x := rng.Int64N(sum)
	t, _ := slices.BinarySearchFunc(g.draw, x, func(s, x int64) int {
		if s > x {
			return 1
		}
		return -1
	})
	return t
}
