package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TrainingOptions configure a training job whose ranks compute and send in step with each other. Zero values take the
// default in brackets. An iteration has Steps steps; in each, ranks all-reduce among those of tensor parallelism,
// exchange among experts, and send to the stages of the pipeline before and after theirs. Gradients of data parallelism
// follow at its end. Before each of these phases all ranks compute.
type TrainingOptions struct {
	Seed  uint64
	Hosts int // of the fabric

	Data, Tensor, Pipeline int           // degrees of parallelism [2]
	Expert                 int           // data-parallel ranks that experts are spread over [1]
	Steps, Iterations      int           // [2]
	Compute                time.Duration // of a rank before each phase [50 ms]

	TP, DP pathmap.Bytes // that each rank holds of an all-reduce [2 MB, 4 MB]
	PP     pathmap.Bytes // that a rank sends each way [1 MB]
	EP     pathmap.Bytes // that a rank has for all experts together [2 MB]
	Skew   float64       // experts' shares fall as 1/rank^Skew, in an order drawn for each phase [0]

	Collective string // of all-reduces: one of Collectives [ring]
	Inner      string // the parallelism whose ranks stand side by side, one of Inners [tensor]
}

// The collectives of training jobs, each of them one coflow.
const (
	Ring    = "ring"    // each rank sends 2(n-1)/n of its bytes to the next
	Direct  = "direct"  // each rank sends 2/n of its bytes to each other one
	Halving = "halving" // recursive halving and doubling: the more, the farther away the other rank is
)

// Collectives are all of them.
func Collectives() []string { return []string{Ring, Direct, Halving} }

// Places of ranks on hosts: which ranks stand side by side.
const (
	InnerTensor   = "tensor"
	InnerPipeline = "pipeline"
	InnerData     = "data"
	InnerNone     = "random" // hosts are drawn
)

// Inners are all of them.
func Inners() []string { return []string{InnerTensor, InnerPipeline, InnerData, InnerNone} }

// mostPhases bounds the phases of a job, each of which is a stage.
const mostPhases = 2000

func (o TrainingOptions) defaults() TrainingOptions {
	for _, n := range []*int{&o.Data, &o.Tensor, &o.Pipeline, &o.Steps, &o.Iterations} {
		set(n, 2)
	}
	set(&o.Expert, 1)
	set(&o.Compute, 50*time.Millisecond)
	set(&o.TP, 2_000_000)
	set(&o.DP, 4_000_000)
	set(&o.PP, 1_000_000)
	set(&o.EP, 2_000_000)
	set(&o.Collective, Ring)
	set(&o.Inner, InnerTensor)
	return o
}

func (o *TrainingOptions) ranks() int { return o.Data * o.Tensor * o.Pipeline }

func (o *TrainingOptions) check() error {
	const most = 1 << 10
	for _, n := range []int{o.Data, o.Tensor, o.Pipeline, o.Expert} {
		if n < 1 || n > most {
			return fmt.Errorf("make a training job: a degree of %d: take 1 to %d", n, most)
		}
	}
	switch {
	case o.ranks() < 2 || o.ranks() > most:
		return fmt.Errorf("make a training job: %d × %d × %d ranks: take 2 to %d", o.Data, o.Tensor, o.Pipeline, most)
	case o.Data%o.Expert != 0:
		return fmt.Errorf("make a training job: %d data-parallel ranks and experts on %d: take a divisor", o.Data, o.Expert)
	case o.Steps < 1 || o.Iterations < 1 || o.Steps > mostPhases || o.Iterations > mostPhases ||
		o.Iterations*(o.Steps*3+1) > mostPhases:
		return fmt.Errorf("make a training job: %d iterations of %d steps: take 1 at least, and %d phases at most",
			o.Iterations, o.Steps, mostPhases)
	case o.Compute < 0 || o.Compute > 24*time.Hour:
		return fmt.Errorf("make a training job: ranks compute for %v: take 0 to a day", o.Compute)
	case !(o.Skew >= 0 && o.Skew <= 100):
		return fmt.Errorf("make a training job: a skew of %g: take 0 to 100", o.Skew)
	case !slices.Contains(Collectives(), o.Collective):
		return fmt.Errorf("make a training job: there is no collective %q: write ring, direct or halving", o.Collective)
	case !slices.Contains(Inners(), o.Inner):
		return fmt.Errorf("make a training job: inner %q: write tensor, pipeline, data or random", o.Inner)
	case o.Collective == Halving && (o.Data&(o.Data-1) != 0 || o.Tensor&(o.Tensor-1) != 0):
		return fmt.Errorf("make a training job: halving among %d data-parallel and %d tensor-parallel ranks: take powers of "+
			"two, or ring", o.Data, o.Tensor)
	}
	for _, b := range []pathmap.Bytes{o.TP, o.PP, o.DP, o.EP} {
		if b < 1 || b > 1<<42 {
			return fmt.Errorf("make a training job: %d bytes of a rank: take 1 to %d", b, pathmap.Bytes(1<<42))
		}
	}
	return nil
}

// Training makes one training job, which arrives at 0. A rank is a task of every stage, always on the same host; a
// stage is the computing before a phase, and the edge after it is the phase's coflow. The job ends with its last
// iteration, so that an iteration takes its completion time ÷ Iterations.
func Training(opt TrainingOptions) ([]controller.Job, error) {
	opt = opt.defaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	if opt.ranks() > opt.Hosts {
		return nil, fmt.Errorf("make a training job: %d ranks, the fabric has %d hosts: take fewer ranks, or more racks",
			opt.ranks(), opt.Hosts)
	}
	g := &trainer{TrainingOptions: opt, rng: rand.New(rand.NewPCG(opt.Seed, 0x747261696e))} // "train"
	g.hosts = g.place()
	g.job = controller.Job{Name: "training", Weight: 1}
	for i := range opt.Iterations {
		for s := range opt.Steps {
			at := fmt.Sprintf("%d.%d ", i+1, s+1)
			g.phase(at+"TP", g.allReduce(g.Tensor, g.tensorGroup, g.TP))
			g.phase(at+"EP", g.experts())
			g.phase(at+"PP", g.pipeline())
		}
		g.phase(strconv.Itoa(i+1)+" DP", g.allReduce(g.Data, g.dataGroup, g.DP))
	}
	g.stage("end", 0)
	return []controller.Job{g.job}, nil
}

// trainer is a job being made.
type trainer struct {
	TrainingOptions
	rng   *rand.Rand
	hosts []southbound.HostID // by rank
	job   controller.Job
}

// rank returns the number of a rank: tensor-parallel ranks are next to each other.
func (g *trainer) rank(d, p, t int) int { return (d*g.Pipeline+p)*g.Tensor + t }

// place gives ranks their hosts, those of the inner parallelism one after the other.
func (g *trainer) place() []southbound.HostID {
	hosts := make([]southbound.HostID, g.ranks())
	if g.Inner == InnerNone {
		for r, h := range g.rng.Perm(g.Hosts)[:len(hosts)] {
			hosts[r] = southbound.HostID(h)
		}
		return hosts
	}
	for d := range g.Data {
		for p := range g.Pipeline {
			for t := range g.Tensor {
				h := (d*g.Pipeline+p)*g.Tensor + t
				switch g.Inner {
				case InnerPipeline:
					h = (d*g.Tensor+t)*g.Pipeline + p
				case InnerData:
					h = (p*g.Tensor+t)*g.Data + d
				}
				hosts[g.rank(d, p, t)] = southbound.HostID(h)
			}
		}
	}
	return hosts
}

// stage adds a stage in which all ranks compute.
func (g *trainer) stage(name string, compute time.Duration) {
	s := controller.Stage{Name: name, Tasks: make([]controller.Task, g.ranks()), Hosts: g.hosts}
	for i := range s.Tasks {
		s.Tasks[i].Compute = compute
	}
	g.job.Stages = append(g.job.Stages, s)
}

// phase adds a phase; one in which nothing is sent is none.
func (g *trainer) phase(name string, flows []controller.Flow) {
	if len(flows) == 0 {
		return
	}
	g.stage(name, g.Compute)
	n := len(g.job.Stages)
	g.job.Edges = append(g.job.Edges, controller.Edge{Kind: controller.Pairs, From: n - 1, To: n, Flows: flows})
}

// tensorGroup and dataGroup return the i-th rank of the k-th group.
func (g *trainer) tensorGroup(k, i int) int { return k*g.Tensor + i }

func (g *trainer) dataGroup(k, i int) int { return i*g.Pipeline*g.Tensor + k }

// allReduce is that of all groups of n ranks.
func (g *trainer) allReduce(n int, rank func(group, i int) int, bytes pathmap.Bytes) (out []controller.Flow) {
	if n < 2 {
		return nil
	}
	for k := range g.ranks() / n {
		for i := range n {
			to := func(j int, b pathmap.Bytes) {
				out = append(out, controller.Flow{Src: southbound.HostID(rank(k, i)), Dst: southbound.HostID(rank(k, j)),
					Bytes: max(1, b)})
			}
			switch g.Collective {
			case Direct:
				for j := 1; j < n; j++ {
					to((i+j)%n, 2*bytes/pathmap.Bytes(n))
				}
			case Halving:
				part := 2 * bytes
				for far := n / 2; far > 0; far /= 2 {
					part /= 2
					to(i^far, part)
				}
			default:
				to((i+1)%n, 2*bytes*pathmap.Bytes(n-1)/pathmap.Bytes(n))
			}
		}
	}
	return out
}

// experts is an all-to-all among the data-parallel ranks that have each other's experts.
func (g *trainer) experts() (out []controller.Flow) {
	n := g.Expert
	if n < 2 {
		return nil
	}
	share, sum := make([]float64, n), 0.0
	for place, j := range g.rng.Perm(n) {
		share[j] = math.Pow(float64(place+1), -g.Skew)
		sum += share[j]
	}
	for k := range g.Pipeline * g.Tensor {
		for first := 0; first < g.Data; first += n {
			for i := range n {
				for j := range n {
					if b := pathmap.Bytes(float64(g.EP) * share[j] / sum); i != j {
						out = append(out, controller.Flow{Src: southbound.HostID(g.dataGroup(k, first+i)),
							Dst: southbound.HostID(g.dataGroup(k, first+j)), Bytes: max(1, b)})
					}
				}
			}
		}
	}
	return out
}

// pipeline sends activations to the next stage, and gradients of an earlier microbatch back.
func (g *trainer) pipeline() (out []controller.Flow) {
	for d := range g.Data {
		for p := range g.Pipeline - 1 {
			for t := range g.Tensor {
				a, b := southbound.HostID(g.rank(d, p, t)), southbound.HostID(g.rank(d, p+1, t))
				out = append(out, controller.Flow{Src: a, Dst: b, Bytes: g.PP}, controller.Flow{Src: b, Dst: a, Bytes: g.PP})
			}
		}
	}
	return out
}
