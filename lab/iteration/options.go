package iteration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"lightloom/controller/training"
	"lightloom/controller/training/astrasim"
	"lightloom/controller/training/chakra"
	"lightloom/controller/training/fluid"
	"lightloom/controller/training/llm"
	"lightloom/controller/training/msccl"
	"lightloom/controller/training/schedule"
	"lightloom/pathmap"
	"lightloom/southbound/hint"
	"lightloom/southbound/yamlfile"
)

// Source is where a job comes from: a path, or a model.
type Source struct {
	Path   string        // of traces, or of an algorithm (.xml)
	Groups string        // file of communicators
	Bytes  pathmap.Bytes // of an algorithm: what each rank holds
	Model  *llm.Job      // instead of a path
}

// Net is the network between ranks.
type Net struct {
	File    string // of ASTRA-sim; instead of the others
	NIC     pathmap.BitsPerSecond
	Inside  pathmap.BitsPerSecond // between ranks of one server; 0: over the NICs
	Server  int                   // ranks of a server
	Latency time.Duration
}

// Options are one run.
type Options struct {
	Source  Source
	Net     Net
	Methods []string // such as all-reduce=ring
	Delays  []string // such as 3=5ms
	System  string   // file of ASTRA-sim: its rules are used
	Unaware bool     // of them: messages do not meet
	Queues  int      // of them: of a dimension
}

// Load reads or generates the job.
func (s *Source) Load() (*training.Workload, error) {
	switch {
	case s.Model != nil:
		w, err := llm.Generate(*s.Model)
		return w, hint.Wrong(err)
	case strings.HasSuffix(s.Path, ".xml"):
		file, err := os.Open(s.Path)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		a, err := msccl.Read(s.Path, file, msccl.Options{Bytes: s.Bytes})
		if err != nil {
			return nil, hint.Wrong(err)
		}
		return a.Work, nil
	}
	groups, err := s.groups()
	if err != nil {
		return nil, err
	}
	w, err := chakra.Open(s.Path, groups)
	return w, hint.Wrong(err)
}

func (s *Source) groups() (chakra.Groups, error) {
	if s.Groups == "" {
		return nil, nil
	}
	text, err := os.ReadFile(s.Groups)
	if err != nil {
		return nil, err
	}
	g, err := chakra.ReadGroups(s.Groups, text)
	return g, hint.Wrong(err)
}

// Run runs a job.
func Run(ctx context.Context, o Options) (*Result, error) {
	w, err := o.Source.Load()
	if err != nil {
		return nil, hint.Wrong(err)
	}
	run := o.fluid
	if o.System != "" {
		run = o.astraSim
	}
	r, err := run(ctx, w)
	if err == nil && o.Source.Model != nil {
		r.iterations = o.Source.Model.Iterations
	}
	return r, hint.Wrong(err)
}

// astraSim runs a job by the rules of ASTRA-sim.
func (o *Options) astraSim(ctx context.Context, w *training.Workload) (*Result, error) {
	if len(o.Methods)+len(o.Delays) > 0 {
		return nil, hint.New("--system: the file says how collectives are carried out, and no rank is late",
			"leave --method and --delay away")
	}
	net, err := o.Net.dimensions()
	if err != nil {
		return nil, err
	}
	text, err := yamlfile.Read(o.System)
	if err != nil {
		return nil, err
	}
	sys, err := astrasim.ReadSystem(o.System, text)
	if err != nil {
		return nil, hint.Wrong(err)
	}
	sys.Queues = o.Queues
	run := astrasim.Options{System: sys, Network: net, Unaware: o.Unaware}
	if run.Custom, err = customOf(sys); err != nil {
		return nil, err
	}
	out, err := astrasim.Run(ctx, w, run)
	if err != nil {
		return nil, hint.Wrong(err)
	}
	mode := "the rules of ASTRA-sim, congestion aware"
	if o.Unaware {
		mode = "the rules of ASTRA-sim, congestion unaware"
	}
	return newResult(w, out, mode, fmt.Sprintf("%v of %v", net.Topology, net.NPUs)), nil
}

// customOf reads the collectives that a system file names.
func customOf(sys *astrasim.System) (map[training.Op]*training.Workload, error) {
	out := map[training.Op]*training.Workload{}
	for _, op := range training.Ops() {
		path := sys.CustomFile(op)
		if path == "" {
			continue
		}
		w, err := chakra.Open(path, nil)
		if err != nil {
			return nil, hint.Wrong(fmt.Errorf("%v-implementation-custom: %w", op, err))
		}
		out[op] = w
	}
	return out, nil
}

// dimensions reads a network file of ASTRA-sim.
func (n *Net) dimensions() (*astrasim.Network, error) {
	if n.File == "" {
		return nil, hint.New("--system: there is no network", "add --network network.yml, ASTRA-sim's analytical one")
	}
	text, err := yamlfile.Read(n.File)
	if err != nil {
		return nil, err
	}
	net, err := astrasim.ReadNetwork(n.File, text)
	return net, hint.Wrong(err)
}

// build returns the network of so many ranks.
func (n *Net) build(ranks int) (*fluid.Network, error) {
	switch {
	case n.File != "":
		net, err := n.dimensions()
		if err != nil {
			return nil, err
		}
		return fluid.Dimensions(net), nil
	case n.NIC <= 0:
		return nil, hint.New("there is no NIC's rate", "write --nic 400Gbps")
	case n.Latency < 0:
		return nil, hint.New(fmt.Sprintf("--latency %v is below zero", n.Latency), "write --latency 1us")
	case n.Server > 1 && n.Inside > 0:
		return fluid.Servers(ranks, n.Server, n.Inside, n.NIC, n.Latency), nil
	}
	return fluid.Star(ranks, n.NIC, n.Latency), nil
}

// fluid runs a job exactly.
func (o *Options) fluid(ctx context.Context, w *training.Workload) (*Result, error) {
	net, err := o.Net.build(len(w.Ranks))
	if err != nil {
		return nil, err
	}
	run := fluid.Options{Network: net, Server: max(o.Net.Server, 1)}
	if run.Methods, err = methods(o.Methods); err != nil {
		return nil, err
	}
	if run.Delay, err = delays(o.Delays, len(w.Ranks)); err != nil {
		return nil, err
	}
	out, err := fluid.Run(ctx, w, run)
	if err != nil {
		return nil, hint.Wrong(err)
	}
	return newResult(w, out, "exact", net.Name), nil
}

// methods reads choices such as all-reduce=halving-doubling.
func methods(list []string) (map[training.Op]schedule.Method, error) {
	out := map[training.Op]schedule.Method{}
	for _, text := range list {
		op, method, ok := strings.Cut(text, "=")
		o, opErr := training.ParseOp(op)
		m, err := schedule.ParseMethod(method)
		if err = cmp.Or(opErr, err); !ok || err != nil {
			if !ok {
				err = errors.New("it has no =")
			}
			return nil, hint.Wrap(fmt.Errorf("--method %q: %w", text, err), "write --method all-reduce=halving-doubling")
		}
		out[o] = m
	}
	return out, nil
}

// delays reads when ranks begin, such as 3=5ms.
func delays(list []string, ranks int) (map[int32]time.Duration, error) {
	out := map[int32]time.Duration{}
	for _, text := range list {
		rank, after, _ := strings.Cut(text, "=")
		r, err := strconv.ParseUint(rank, 10, 31)
		d, dErr := time.ParseDuration(after)
		if err != nil || dErr != nil || d < 0 || int(r) >= ranks {
			return nil, hint.New(fmt.Sprintf("--delay %q is no rank and time: there are ranks 0 to %d", text, ranks-1),
				"write --delay 3=5ms")
		}
		if _, twice := out[int32(r)]; twice {
			return nil, hint.New(fmt.Sprintf("--delay names rank %d twice", r), "write one delay for each rank")
		}
		out[int32(r)] = d
	}
	return out, nil
}
