package astrasim

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"lightloom/controller/training"
	"lightloom/southbound/yamlfile"
)

// System is what ASTRA-sim's system file says of each NPU. Keys that only change what that tool prints are taken and
// have no effect.
type System struct {
	Scheduling    string  `yaml:"scheduling-policy"`           // of collectives: LIFO, FIFO or EXPLICIT
	Optimization  string  `yaml:"collective-optimization"`     // baseline, or localBWAware
	EndpointDelay float64 `yaml:"endpoint-delay"`              // ns; 10 where not given
	ActiveChunks  int     `yaml:"active-chunks-per-dimension"` // 1 where not given
	Splits        int     `yaml:"preferred-dataset-splits"`    // chunks of a collective
	Memory        float64 `yaml:"local-mem-bw"`                // GB/s
	Peak          float64 `yaml:"peak-perf"`                   // Tflop/s
	Roofline      int     `yaml:"roofline-enabled"`
	Replay        int     `yaml:"replay-only"`

	AllReduce     []string `yaml:"all-reduce-implementation"` // by dimension
	AllGather     []string `yaml:"all-gather-implementation"`
	ReduceScatter []string `yaml:"reduce-scatter-implementation"`
	AllToAll      []string `yaml:"all-to-all-implementation"`
	Custom        custom   `yaml:",inline"`

	Queues int `yaml:"-"` // of a dimension: the tool's --num-queues-per-dim; 1 where 0

	SharedBus int   `yaml:"model-shared-bus"`
	Unused    quiet `yaml:",inline"`
}

// custom are collectives from files: a Chakra file of a rank each, path.RANK.et.
type custom struct {
	AllReduce     []string `yaml:"all-reduce-implementation-custom"`
	AllGather     []string `yaml:"all-gather-implementation-custom"`
	ReduceScatter []string `yaml:"reduce-scatter-implementation-custom"`
	AllToAll      []string `yaml:"all-to-all-implementation-custom"`
}

// quiet are keys without effect on times.
type quiet struct {
	Boost       any `yaml:"boost-mode"`
	Trace       any `yaml:"trace-enabled"`
	TrackMemory any `yaml:"track-local-mem"`
	MemoryTrace any `yaml:"local-mem-trace-filename"`
	Reduction   any `yaml:"local-reduction-delay"` // of a shared bus, as the next four
	L           any `yaml:"L"`
	O           any `yaml:"o"`
	LowerG      any `yaml:"g"`
	G           any `yaml:"G"`
}

// ReadSystem reads a system file, in JSON.
func ReadSystem(name string, data []byte) (*System, error) {
	s := &System{EndpointDelay: 10, ActiveChunks: 1, Scheduling: "FIFO", Optimization: "baseline"}
	f, err := yamlfile.Decode(name, data, s)
	if err != nil {
		return nil, fmt.Errorf("read system: %w", err)
	}
	if at, err := s.check(); err != nil {
		return nil, fmt.Errorf("read system: %w", f.At(yamlfile.Keys{at}, err))
	}
	return s, nil
}

// check returns what is wrong, and the key of it.
func (s *System) check() (string, error) {
	switch {
	case s.Scheduling != "LIFO" && s.Scheduling != "FIFO" && s.Scheduling != "EXPLICIT":
		return "scheduling-policy", fmt.Errorf("there is no policy %.40q: write LIFO, FIFO or EXPLICIT", s.Scheduling)
	case s.Optimization != "baseline" && s.Optimization != "localBWAware":
		return "collective-optimization", fmt.Errorf("there is no %.40q: write baseline or localBWAware", s.Optimization)
	case !(s.EndpointDelay >= 0) || s.EndpointDelay > mostDelay:
		return "endpoint-delay", fmt.Errorf("%v is not within 0 to %v: write nanoseconds, such as 10", s.EndpointDelay,
			mostDelay)
	case s.ActiveChunks < 1 || s.ActiveChunks > mostChunks:
		return "active-chunks-per-dimension", fmt.Errorf("%d is not within 1 to %d", s.ActiveChunks, mostChunks)
	case s.Splits < 1 || s.Splits > mostChunks:
		return "preferred-dataset-splits", fmt.Errorf("%d is not within 1 to %d: write 4", s.Splits, mostChunks)
	case s.Memory < 0 || math.IsNaN(s.Memory) || math.IsInf(s.Memory, 0):
		return "local-mem-bw", errors.New("it is no bandwidth: write GB/s, such as 1600")
	case s.Peak < 0 || math.IsNaN(s.Peak) || math.IsInf(s.Peak, 0), s.Roofline != 0 && s.Peak == 0:
		return "peak-perf", errors.New("it is no speed: write Tflop/s, such as 900")
	case s.SharedBus != 0:
		return "model-shared-bus", errors.New("the shared memory bus is not modelled here: write 0")
	}
	for _, op := range training.Ops() {
		for _, name := range s.implementations(op) {
			if _, err := parseImplementation(name); err != nil {
				return op.String() + "-implementation", err
			}
		}
	}
	return "", nil
}

const (
	mostDelay  = 1e12 // ns
	mostChunks = 1 << 16
)

// implementations returns the names for an operation, by dimension.
func (s *System) implementations(op training.Op) []string {
	switch op {
	case training.AllReduce:
		return s.AllReduce
	case training.AllGather:
		return s.AllGather
	case training.ReduceScatter:
		return s.ReduceScatter
	case training.AllToAll:
		return s.AllToAll
	}
	return nil
}

// CustomFile returns the path, without .RANK.et, of the file that describes an operation; empty where there is none.
func (s *System) CustomFile(op training.Op) string {
	var list []string
	switch op {
	case training.AllReduce:
		list = s.Custom.AllReduce
	case training.AllGather:
		list = s.Custom.AllGather
	case training.ReduceScatter:
		list = s.Custom.ReduceScatter
	case training.AllToAll:
		list = s.Custom.AllToAll
	}
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

// implementation is how a dimension carries out a collective.
type implementation struct {
	method method
	whole  bool // over all NPUs as one dimension
	window int  // of direct: messages at once; 0: all
}

type method uint8

const (
	ring method = iota
	direct
	halvingDoubling
	doubleBinaryTree
)

// parseImplementation reads a name such as ring, oneRing, direct, direct8 or halvingDoubling.
func parseImplementation(name string) (implementation, error) {
	var i implementation
	base := name
	if rest, ok := strings.CutPrefix(name, "one"); ok && rest != "" {
		i.whole, base = true, strings.ToLower(rest[:1])+rest[1:]
	}
	switch {
	case base == "ring":
		i.method = ring
	case base == "halvingDoubling":
		i.method = halvingDoubling
	case base == "doubleBinaryTree" && !i.whole:
		i.method = doubleBinaryTree
	case strings.HasPrefix(base, "direct"):
		i.method = direct
		if window := base[len("direct"):]; window != "" {
			n, err := strconv.ParseUint(window, 10, 16)
			if err != nil || n == 0 {
				return i, fmt.Errorf("%.40q has no window: write direct, or direct8", name)
			}
			i.window = int(n)
		}
	default:
		return i, fmt.Errorf("there is no implementation %.40q: write ring, direct, halvingDoubling, doubleBinaryTree, "+
			"oneRing, oneDirect or oneHalvingDoubling", name)
	}
	return i, nil
}

// endpoint returns the time that a message costs at an endpoint, in ns.
func (s *System) endpoint() int64 { return int64(s.EndpointDelay) }

// reduction returns the time to reduce a message: two reads and a write of memory, each truncated.
func (s *System) reduction(size int64) int64 {
	return 3 * int64(float64(size)/(s.Memory*1e9)*1e9)
}
