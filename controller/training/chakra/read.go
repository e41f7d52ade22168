package chakra

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// newest is the newest schema that is read: a later one can mean something else by the same fields.
const newest = "1.0.0"

// Source is the trace of one rank. Its name is for errors.
type Source struct {
	Name string
	Text io.Reader
}

// Groups are the communicators of a trace by name, beside that of all ranks, "" and "0": ASTRA-sim keeps them in a
// file of their own.
type Groups map[string][]int32

// Read reads a workload, one source a rank, and checks it. An error names file, rank and node.
func Read(name string, sources []Source, groups Groups) (*training.Workload, error) {
	return read(name, sources, groups, mostMemory)
}

// read is Read with a bound on memory.
func read(name string, sources []Source, groups Groups, memory int64) (*training.Workload, error) {
	t := &trace{w: training.NewWorkload(name, len(sources)), groups: map[string]int32{"": training.World,
		"0": training.World}, left: memory}
	for _, g := range slices.Sorted(keys(groups)) {
		if err := t.addGroup(g, groups[g]); err != nil {
			return nil, fmt.Errorf("read trace %s: %w", name, err)
		}
	}
	records := make([][]record, len(sources))
	for r, s := range sources {
		var err error
		if records[r], err = t.decode(s); err != nil {
			return nil, fmt.Errorf("read trace: %s: %w", s.Name, err)
		}
	}
	for r, s := range sources {
		t.w.Ranks[r].File = s.Name
		if err := t.fill(r, records[r]); err != nil {
			return nil, fmt.Errorf("read trace: %s: %w", s.Name, err)
		}
	}
	if err := t.w.Check(); err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	return t.w, nil
}

func keys(g Groups) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range g {
			if !yield(k) {
				return
			}
		}
	}
}

// trace is a workload being read.
type trace struct {
	w      *training.Workload
	groups map[string]int32
	left   int64 // bytes of memory for further records
}

// addGroup adds a communicator. One that is told again replaces none: all ranks tell the same.
func (t *trace) addGroup(name string, ranks []int32) error {
	if _, ok := t.groups[name]; ok {
		return nil
	}
	seen := make([]bool, len(t.w.Ranks))
	for _, r := range ranks {
		if r < 0 || int(r) >= len(seen) {
			return fmt.Errorf("communicator %.40q has rank %d, and there are traces of ranks 0 to %d", name, r, len(seen)-1)
		}
		if seen[r] {
			return fmt.Errorf("communicator %.40q has rank %d twice", name, r)
		}
		seen[r] = true
	}
	if len(ranks) == 0 {
		return fmt.Errorf("communicator %.40q has no ranks", name)
	}
	t.groups[name] = int32(len(t.w.Groups))
	t.w.Groups = append(t.w.Groups, training.Group{Name: name, Ranks: ranks})
	return nil
}

// decode reads the nodes of a file, and the communicators that its metadata nodes tell.
func (t *trace) decode(s Source) ([]record, error) {
	version, records, err := decode(s.Text, &t.left)
	if err != nil {
		return nil, err
	}
	if err := checkVersion(version); err != nil {
		return nil, err
	}
	for i := range records {
		n := &records[i]
		if n.kind != typeMetadata {
			continue
		}
		if err := t.processGroups(n.inputs); err != nil {
			return nil, fmt.Errorf("node %d (%.60q): %w", n.id, n.name, err)
		}
	}
	return records, nil
}

// checkVersion refuses a schema that is newer than what is read. A version is 1.0.0, or 1.1.1-chakra.1.0.0 where the
// trace was converted from one of PyTorch; a file without one is taken for any of those.
func checkVersion(version string) error {
	if version == "" {
		return nil
	}
	text := version
	if _, after, ok := strings.Cut(version, "chakra."); ok {
		text = after
	}
	parts, limit := strings.Split(text, "."), strings.Split(newest, ".")
	for i := range limit {
		if i >= len(parts) {
			break
		}
		have, err := strconv.ParseUint(parts[i], 10, 31)
		if err != nil {
			return fmt.Errorf("its schema is %.40q, which is no version: schemas to %s are read", version, newest)
		}
		most, _ := strconv.ParseUint(limit[i], 10, 31)
		if have < most {
			return nil
		}
		if have > most {
			return fmt.Errorf("its schema is %.40q, and schemas to %s are read: convert the trace to %[2]s", version, newest)
		}
	}
	return nil
}

// processGroups reads the communicators of a metadata node: a JSON list, with which PyTorch's observer describes its
// process groups, within quotes and brackets.
func (t *trace) processGroups(text string) error {
	from, to := strings.Index(text, "[{"), strings.LastIndex(text, "}]")
	if from < 0 || to < from {
		return nil
	}
	var list []struct {
		Name  any     `json:"pg_name"`
		Ranks []int32 `json:"ranks"`
	}
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text[from:to+2], `\"`, `"`)), &list); err != nil {
		return fmt.Errorf("its process groups are no JSON: %w", err)
	}
	for _, g := range list {
		ranks := g.Ranks
		if len(ranks) == 0 {
			ranks = t.w.Groups[training.World].Ranks
		}
		if err := t.addGroup(fmt.Sprint(g.Name), ranks); err != nil {
			return err
		}
	}
	return nil
}

// ReadGroups reads ASTRA-sim's file of communicators: a JSON object of names, each with its ranks.
func ReadGroups(name string, text []byte) (Groups, error) {
	g := Groups{}
	if err := json.Unmarshal(text, &g); err != nil {
		line := 1
		if e := (*json.SyntaxError)(nil); errors.As(err, &e) {
			line += strings.Count(string(text[:min(int(e.Offset), len(text))]), "\n")
		}
		return nil, fmt.Errorf("read communicators: %s:%d: %w: write {\"1\": [0, 1, 2, 3]}", name, line, err)
	}
	return g, nil
}

// fill turns the records of a rank into its nodes.
func (t *trace) fill(rank int, records []record) error {
	at := make(map[uint64]int32, len(records))
	for i := range records {
		if _, ok := at[records[i].id]; ok {
			return fmt.Errorf("two nodes have the id %d: give each its own", records[i].id)
		}
		at[records[i].id] = int32(i)
	}
	nodes := make([]training.Node, len(records))
	for i := range records {
		r := &records[i]
		n, err := t.node(rank, r)
		if err != nil {
			return fmt.Errorf("node %d (%.60q) of rank %d: %w", r.id, r.name, rank, err)
		}
		for _, d := range r.deps {
			a, ok := at[d]
			if !ok {
				return fmt.Errorf("node %d (%.60q) of rank %d: it waits for node %d, which the file does not have", r.id, r.name,
					rank, d)
			}
			n.After = append(n.After, a)
		}
		slices.Sort(n.After)
		n.After = slices.Compact(n.After)
		nodes[i] = n
	}
	t.w.Ranks[rank].Nodes = nodes
	return nil
}

// mostMicros bounds a node's duration, in µs: some 29 years.
const mostMicros = math.MaxInt64 / 10 / int64(time.Microsecond)

func (t *trace) node(rank int, r *record) (training.Node, error) {
	n := training.Node{ID: r.id, Name: r.name, CPU: r.cpu, Duration: time.Duration(r.duration) * time.Microsecond,
		Bytes: pathmap.Bytes(r.ints["comm_size"]), Phase: phaseOf(r.name)}
	if r.duration > uint64(mostMicros) {
		return n, fmt.Errorf("it takes %d µs: at most %d are taken", r.duration, mostMicros)
	}
	switch r.kind {
	case typeInvalid, typeMetadata:
		n.Kind, n.Duration = training.Nothing, 0
	case typeCompute:
		n.Kind, n.Ops, n.Tensor = training.Compute, r.ints["num_ops"], pathmap.Bytes(r.ints["tensor_size"])
	case typeSend:
		n.Kind = training.Send
		return n, t.peer(rank, r, &n, "comm_dst", "comm_src")
	case typeReceive:
		n.Kind = training.Receive
		return n, t.peer(rank, r, &n, "comm_src", "comm_dst")
	case typeCollective:
		n.Kind = training.Collective
		return n, t.collective(r, &n)
	case typeMemLoad, typeMemStore:
		return n, errors.New("it loads or stores remote memory, which nothing here models: remove such nodes")
	default:
		return n, fmt.Errorf("its type is %d, and types 0 to %d are known", r.kind, typeCollective)
	}
	return n, nil
}

// peer reads the other end of a message. The trace may tell its own rank too, which then must be right.
func (t *trace) peer(rank int, r *record, n *training.Node, peer, self string) error {
	p, ok := r.ints[peer]
	if !ok {
		return fmt.Errorf("it has no %s: write the rank at its other end", peer)
	}
	if own, ok := r.ints[self]; ok && own != int64(rank) {
		return fmt.Errorf("its %s is %d, and it stands in the trace of rank %d", self, own, rank)
	}
	if p < 0 || p >= int64(len(t.w.Ranks)) {
		return fmt.Errorf("its %s is rank %d, which has no trace: there are ranks 0 to %d", peer, p, len(t.w.Ranks)-1)
	}
	tag := r.ints["comm_tag"]
	if tag < 0 || tag > math.MaxInt32 {
		return fmt.Errorf("its comm_tag is %d: write 0 to %d", tag, math.MaxInt32)
	}
	n.Peer, n.Tag = int32(p), int32(tag)
	return nil
}

func (t *trace) collective(r *record, n *training.Node) error {
	kind, ok := r.ints["comm_type"]
	switch {
	case !ok:
		return errors.New("it has no comm_type: write 0 for all-reduce, 2, 5, 6 or 7")
	case kind == commAllReduce:
		n.Op = training.AllReduce
	case kind == commAllGather:
		n.Op = training.AllGather
	case kind == commBroadcast:
		n.Op = training.Broadcast
	case kind == commAllToAll:
		n.Op = training.AllToAll
	case kind == commReduceScatter, kind == commReduceScatterBlock:
		n.Op = training.ReduceScatter
	case kind == commBarrier:
		n.Op = training.Barrier
	default:
		return fmt.Errorf("its comm_type is %d: all-reduce (0), all-gather (2), broadcast (5), all-to-all (6), "+
			"reduce-scatter (7) and barrier (9) are known", kind)
	}
	g, ok := t.groups[r.group]
	if !ok {
		return fmt.Errorf("nothing tells the ranks of its communicator %.40q: add it to the file of --groups", r.group)
	}
	n.Group, n.Dims = g, r.dims
	n.Priority = int32(max(min(r.ints["comm_priority"], math.MaxInt32), math.MinInt32))
	return nil
}

// phaseOf reads the parallelism from a node's name, where it begins with one of the words that our own traces have.
func phaseOf(name string) training.Phase {
	word, _, _ := strings.Cut(name, " ")
	for p := training.DataParallel; p <= training.ExpertParallel; p++ {
		if word == p.String() {
			return p
		}
	}
	return training.NoPhase
}
