// Package msccl reads a collective from an algorithm file in MSCCL's XML: for each GPU thread blocks, whose steps send
// to one peer, receive from another, reduce and copy. It becomes the sends, receives and reductions of a workload.
//
// It keeps what decides times: who sends how much to whom, and after what. Where in a buffer the bytes stand it does
// not check.
package msccl

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// Limits of a file.
const (
	mostGPUs  = 1 << 14
	mostSteps = 1 << 22
	mostText  = 256 << 20 // bytes
)

// Options are what a file does not say.
type Options struct {
	Bytes  pathmap.Bytes                     // that each rank holds before the collective
	Reduce func(pathmap.Bytes) time.Duration // how long a reduction of so many bytes takes; nil: no time
}

// Algorithm is a collective that was read.
type Algorithm struct {
	Name string
	Op   training.Op
	Work *training.Workload // a rank for each GPU
}

// step is one step of a thread block.
type step struct {
	line           int
	kind           string
	count          int
	depBlock, deps int // the step that it waits for; -1: none
}

// block is a thread block: its steps run one after the other.
type block struct {
	line                int
	id                  int
	send, recv, channel int
	steps               []step
}

type gpu struct {
	line, id int
	blocks   []block
}

// algo is a file's content.
type algo struct {
	name, coll  string
	gpus        int
	loops       int // chunks of a loop
	list        []gpu
	steps, line int
}

// Read reads an algorithm. An error names file and line.
func Read(name string, in io.Reader, o Options) (*Algorithm, error) {
	a, err := parse(in)
	if err == nil {
		var out *Algorithm
		if out, err = a.build(name, o); err == nil {
			return out, nil
		}
	}
	return nil, fmt.Errorf("read algorithm: %s:%w", name, err)
}

// at puts a line before an error.
func at(line int, format string, args ...any) error {
	return fmt.Errorf("%d: %w", line, fmt.Errorf(format, args...))
}

func parse(in io.Reader) (*algo, error) {
	limited := &io.LimitedReader{R: in, N: mostText}
	d := xml.NewDecoder(limited)
	a := &algo{}
	for {
		token, err := d.Token()
		line, _ := d.InputPos()
		switch {
		case errors.Is(err, io.EOF) && limited.N > 0:
			return a, a.check()
		case limited.N <= 0:
			return nil, at(line, "longer than %d bytes", mostText)
		case err != nil:
			return nil, at(line, "%w", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if err := a.element(line, e); err != nil {
				return nil, err
			}
		}
	}
}

// attributes reads those of an element.
type attributes struct {
	line int
	e    xml.StartElement
	err  error
}

func (x *attributes) text(name string) string {
	for _, a := range x.e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// int returns an attribute within bounds, and or where there is none.
func (x *attributes) int(name string, or, least, most int) int {
	text := x.text(name)
	if text == "" {
		return or
	}
	v, err := strconv.Atoi(text)
	if (err != nil || v < least || v > most) && x.err == nil {
		x.err = at(x.line, "%s=%.20q of <%s> is not within %d to %d", name, text, x.e.Name.Local, least, most)
	}
	return v
}

func (a *algo) element(line int, e xml.StartElement) error {
	x := &attributes{line: line, e: e}
	switch e.Name.Local {
	case "algo":
		a.line, a.name, a.coll = line, x.text("name"), x.text("coll")
		a.gpus = x.int("ngpus", 0, 1, mostGPUs)
		a.loops = x.int("nchunksperloop", 1, 1, math.MaxInt32)
	case "gpu":
		if a.line == 0 {
			return at(line, "<gpu> stands outside of <algo>")
		}
		a.list = append(a.list, gpu{line: line, id: x.int("id", len(a.list), 0, mostGPUs)})
	case "tb":
		if len(a.list) == 0 {
			return at(line, "<tb> stands outside of <gpu>")
		}
		g := &a.list[len(a.list)-1]
		g.blocks = append(g.blocks, block{line: line, id: x.int("id", len(g.blocks), 0, mostSteps),
			send: x.int("send", -1, -1, mostGPUs), recv: x.int("recv", -1, -1, mostGPUs), channel: x.int("chan", 0, 0, 1<<16)})
	case "step":
		if len(a.list) == 0 || len(a.list[len(a.list)-1].blocks) == 0 {
			return at(line, "<step> stands outside of <tb>")
		}
		if a.steps++; a.steps > mostSteps {
			return at(line, "more than %d steps", mostSteps)
		}
		g := &a.list[len(a.list)-1]
		b := &g.blocks[len(g.blocks)-1]
		b.steps = append(b.steps, step{line: line, kind: x.text("type"), count: x.int("cnt", 1, 0, math.MaxInt32),
			depBlock: x.int("depid", -1, -1, mostSteps), deps: x.int("deps", -1, -1, mostSteps)})
	}
	return x.err
}

func (a *algo) check() error {
	switch {
	case a.line == 0:
		return at(1, "there is no <algo>: write an algorithm of MSCCL")
	case a.gpus != len(a.list):
		return at(a.line, "ngpus is %d, and there are %d <gpu>", a.gpus, len(a.list))
	}
	for i, g := range a.list {
		if g.id != i {
			return at(g.line, "gpu %d stands at place %d: write them in order", g.id, i)
		}
		for _, b := range g.blocks {
			if b.send >= a.gpus || b.recv >= a.gpus || b.send == i || b.recv == i {
				return at(b.line, "thread block %d sends to %d and receives from %d: write other GPUs, 0 to %d", b.id, b.send,
					b.recv, a.gpus-1)
			}
		}
	}
	return nil
}

// op returns the collective that a file's coll names.
func (a *algo) op() (training.Op, error) {
	switch a.coll {
	case "allreduce":
		return training.AllReduce, nil
	case "allgather":
		return training.AllGather, nil
	case "reducescatter", "reduce_scatter":
		return training.ReduceScatter, nil
	case "alltoall":
		return training.AllToAll, nil
	}
	return 0, at(a.line, "coll=%.40q: write allreduce, allgather, reducescatter or alltoall", a.coll)
}

// build turns thread blocks into nodes.
func (a *algo) build(name string, o Options) (*Algorithm, error) {
	op, err := a.op()
	if err != nil {
		return nil, err
	}
	if o.Bytes > training.MostBytes || op == training.AllGather && o.Bytes > training.MostBytes/pathmap.Bytes(a.gpus) {
		return nil, at(a.line, "%d bytes of each of %d GPUs are more than %d: write fewer", int64(o.Bytes), a.gpus,
			int64(training.MostBytes))
	}
	w := training.NewWorkload(a.name, a.gpus)
	size := o.Bytes / pathmap.Bytes(a.loops)
	if op == training.AllGather { // a loop is about the bytes of all ranks
		size = o.Bytes * pathmap.Bytes(a.gpus) / pathmap.Bytes(a.loops)
	}
	if size < 1 {
		return nil, at(a.line, "%d bytes cannot be split into %d chunks", int64(o.Bytes), a.loops)
	}
	for i := range a.list {
		w.Ranks[i].File = name
		if err := a.rank(w, i, size, o); err != nil {
			return nil, err
		}
	}
	if err := w.Check(); err != nil {
		return nil, at(a.line, "%w", err)
	}
	return &Algorithm{Name: a.name, Op: op, Work: w}, nil
}

// last is the last node of each step, by thread block.
type last map[int][]int32

// rank adds the nodes of a GPU: first all of them in the order of blocks, then what they wait for.
func (a *algo) rank(w *training.Workload, i int, size pathmap.Bytes, o Options) error {
	g := &a.list[i]
	ends, begins := last{}, last{}
	for _, b := range g.blocks {
		if _, ok := ends[b.id]; ok {
			return at(b.line, "gpu %d has two thread blocks %d", i, b.id)
		}
		ends[b.id] = nil
		before := int32(-1)
		for k, s := range b.steps {
			nodes, err := s.nodes(&b, size, o)
			if err != nil {
				return err
			}
			begins[b.id] = append(begins[b.id], int32(len(w.Ranks[i].Nodes)))
			for _, n := range nodes {
				n.Name = fmt.Sprintf("tb%d step%d %v", b.id, k, n.Kind)
				if before >= 0 {
					n.After = []int32{before}
				}
				before = w.Add(i, n)
			}
			ends[b.id] = append(ends[b.id], before)
		}
	}
	for _, b := range g.blocks {
		for k, s := range b.steps {
			if s.depBlock < 0 || s.deps < 0 {
				continue
			}
			if s.deps >= len(ends[s.depBlock]) {
				return at(s.line, "it waits for step %d of thread block %d, which gpu %d does not have", s.deps, s.depBlock, i)
			}
			n := &w.Ranks[i].Nodes[begins[b.id][k]]
			n.After = append(n.After, ends[s.depBlock][s.deps])
		}
	}
	return nil
}

// nodes returns what a step does, one after the other.
func (s *step) nodes(b *block, size pathmap.Bytes, o Options) ([]training.Node, error) {
	if s.count > 0 && size > training.MostBytes/pathmap.Bytes(s.count) {
		return nil, at(s.line, "step %q: %d chunks of %d bytes are more than %d bytes", s.kind, s.count, int64(size),
			int64(training.MostBytes))
	}
	size *= pathmap.Bytes(s.count)
	receive := training.Node{Kind: training.Receive, Peer: int32(b.recv), Bytes: size, Tag: int32(b.channel)}
	send := training.Node{Kind: training.Send, Peer: int32(b.send), Bytes: size, Tag: int32(b.channel)}
	work := training.Node{Kind: training.Compute}
	if o.Reduce != nil {
		work.Duration = o.Reduce(size)
	}
	var out []training.Node
	switch s.kind {
	case "s":
		out = []training.Node{send}
	case "r":
		out = []training.Node{receive}
	case "rcs":
		out = []training.Node{receive, send}
	case "rrc":
		out = []training.Node{receive, work}
	case "rrs", "rrcs":
		out = []training.Node{receive, work, send}
	case "re":
		out = []training.Node{work}
	case "cpy", "nop":
		out = []training.Node{{Kind: training.Nothing}}
	default:
		return nil, at(s.line, "there is no step %.20q: write s, r, rcs, rrc, rrs, rrcs, re, cpy or nop", s.kind)
	}
	for _, n := range out {
		if n.Kind == training.Send && b.send < 0 || n.Kind == training.Receive && b.recv < 0 {
			return nil, at(s.line, "step %q: thread block %d has no peer to %v", s.kind, b.id, n.Kind)
		}
		if err := training.CheckBytes(size); err != nil && (n.Kind == training.Send || n.Kind == training.Receive) {
			return nil, at(s.line, "step %q: %w", s.kind, err)
		}
	}
	return out, nil
}
