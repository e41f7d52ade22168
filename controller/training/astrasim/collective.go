package astrasim

import (
	"fmt"
	"slices"

	"lightloom/controller/training"
)

// dimension is one step of a collective's way through the network.
type dimension struct {
	level int // whose queues it uses
	impl  implementation
	ranks circle
	tree  *tree // of doubleBinaryTree
	skip  bool  // the collective leaves it out
}

// collectiveOf is a collective that a rank begins.
type collectiveOf struct {
	n    *npu
	node *training.Node
	dims []dimension
	done func()

	left int // chunks that have not ended
}

// beginCollective begins a rank's part in a collective, and calls done when it has ended.
func (n *npu) beginCollective(node *training.Node, done func()) error {
	c := &collectiveOf{n: n, node: node, done: done}
	priority := n.priority(node)
	if w := n.custom[node.Op]; w != nil {
		return c.beginCustom(w, priority)
	}
	var err error
	if c.dims, err = n.dimensions(node); err != nil {
		return err
	}
	size := int64(node.Bytes)
	split := size / int64(n.system.Splits)
	if node.Op != training.AllGather && split < int64(n.total) {
		split = int64(n.total)
		size = split * int64(n.system.Splits)
	}
	if split == 0 {
		return fmt.Errorf("its %d bytes cannot be split in %d chunks: lower preferred-dataset-splits", size, n.system.Splits)
	}
	count := (size + split - 1) / split
	if count > mostChunks {
		return fmt.Errorf("it would have %d chunks: lower preferred-dataset-splits", count)
	}
	c.left = int(count)
	for range count {
		phases, err := c.phases(split)
		if err != nil {
			return err
		}
		(&chunk{n: n, id: n.nextChunk(node), phases: phases, queue: -1, priority: priority, done: c.ended}).next()
	}
	return nil
}

func (c *collectiveOf) ended() {
	if c.left--; c.left == 0 {
		c.done()
	}
}

// priority returns the order of a collective among those of its rank: the larger is first.
func (n *npu) priority(node *training.Node) int {
	switch n.system.Scheduling {
	case "LIFO":
		n.collective++
		return n.collective
	case "FIFO":
		n.collective--
		return n.collective
	}
	return int(node.Priority)
}

// groupChunks is the ids between the chunks of one communicator and the next.
const groupChunks = 1_000_000

// nextChunk returns an id, which is the same on all ranks that begin the same collectives in the same order.
func (n *npu) nextChunk(node *training.Node) int64 {
	if node.Group == training.World {
		n.streams++
		return n.streams - 1
	}
	n.groupStreams[node.Group]++
	return int64(node.Group)*groupChunks + n.groupStreams[node.Group] - 1
}

// dimensions returns the way of a collective: that of its implementations, or one dimension for a communicator that is
// smaller than the world, which is a ring if there are several implementations.
func (n *npu) dimensions(node *training.Node) ([]dimension, error) {
	var impls []implementation
	for _, name := range n.system.implementations(node.Op) {
		i, err := parseImplementation(name)
		if err != nil {
			return nil, err
		}
		impls = append(impls, i)
	}
	if len(impls) == 0 {
		return nil, fmt.Errorf("the system file has no %v-implementation: add one, such as [ \"ring\" ]", node.Op)
	}
	g := &n.work.Groups[node.Group]
	var dims []dimension
	if len(g.Ranks) < n.total {
		if len(impls) > 1 {
			impls = []implementation{{method: ring}}
		}
		at := slices.Index(g.Ranks, n.id)
		dims = []dimension{{impl: impls[0], ranks: circle{g.Ranks, at, true}}}
	} else {
		if len(impls) > len(n.net.NPUs) {
			return nil, fmt.Errorf("the system file has %d implementations of %v, and the network has %d dimensions", len(impls),
				node.Op, len(n.net.NPUs))
		}
		dims = n.worldDimensions(node.Op, impls)
		for d := range dims {
			dims[d].skip = node.Dims != nil && (d >= len(node.Dims) || !node.Dims[d])
		}
	}
	for _, d := range dims {
		if err := n.suits(node.Op, d); err != nil {
			return nil, err
		}
	}
	return dims, nil
}

// worldDimensions returns the dimensions of a collective of all NPUs.
func (n *npu) worldDimensions(op training.Op, impls []implementation) []dimension {
	var dims []dimension
	stride := int32(1)
	for d, impl := range impls {
		size := int32(n.net.NPUs[d])
		if impl.whole {
			stride, size = 1, int32(n.total)
		}
		at := n.id / stride % size
		first := n.id - at*stride
		c := circle{at: int(at)}
		for i := range size {
			c.ranks = append(c.ranks, first+i*stride)
		}
		dim := dimension{level: d, impl: impl, ranks: c}
		if impl.method == doubleBinaryTree {
			dim.tree = n.tree(op, d, c.ranks)
		}
		dims = append(dims, dim)
		if impl.whole {
			break
		}
		stride *= size
	}
	return dims
}

// treeOf identifies a tree of a rank.
type treeOf struct {
	op  training.Op
	dim int
}

// tree returns the tree of a rank in a dimension for an operation, which counts how often it was used.
func (n *npu) tree(op training.Op, dim int, ranks []int32) *tree {
	k := treeOf{op, dim}
	if n.trees[k] == nil {
		n.trees[k] = &tree{ranks: ranks}
	}
	return n.trees[k]
}

// suits refuses what has no rules.
func (n *npu) suits(op training.Op, d dimension) error {
	size := len(d.ranks.ranks)
	switch {
	case d.impl.method == doubleBinaryTree && d.ranks.group:
		return fmt.Errorf("doubleBinaryTree runs over the whole network only: write ring or direct")
	case d.impl.method == doubleBinaryTree && !whole(size):
		return fmt.Errorf("doubleBinaryTree needs 2, 4, 8 … NPUs in a dimension, and there are %d: write ring or direct",
			size)
	case d.impl.method == halvingDoubling && size > 1 && !whole(size):
		return fmt.Errorf("halvingDoubling needs 2, 4, 8 … NPUs, and there are %d: write ring or direct", size)
	case d.impl.method == halvingDoubling && op == training.AllToAll:
		return fmt.Errorf("halvingDoubling has no all-to-all: write ring or direct")
	}
	return nil
}

// phases returns the way of one chunk of size bytes.
func (c *collectiveOf) phases(size int64) ([]phase, error) {
	var dims []int
	for i, d := range c.dims {
		if !d.skip && len(d.ranks.ranks) > 1 {
			dims = append(dims, i)
		}
	}
	if len(dims) == 0 {
		return nil, fmt.Errorf("it takes part in no dimension of the network: set one of involved_dim")
	}
	var out []phase
	add := func(op training.Op, dim int, queue func(*level) (int, bool)) {
		d := &c.dims[dim]
		q, back := queue(&c.n.levels[d.level])
		out = append(out, c.phase(op, d, size, q, back))
		size = after(op, len(d.ranks.ranks), size)
	}
	op := c.node.Op
	if op != training.AllReduce || c.n.system.Optimization == "baseline" {
		if op == training.AllGather {
			slices.Reverse(dims)
		}
		for _, d := range dims {
			add(op, d, (*level).next)
		}
		return out, nil
	}
	last := len(dims) - 1
	for _, d := range dims[:last] {
		add(training.ReduceScatter, d, (*level).nextUp)
	}
	add(training.AllReduce, dims[last], (*level).nextUp)
	for i := last - 1; i >= 0; i-- {
		add(training.AllGather, dims[i], (*level).nextDown)
	}
	return out, nil
}

// phase returns a chunk's way along one dimension.
func (c *collectiveOf) phase(op training.Op, d *dimension, size int64, queue int, back bool) phase {
	if d.tree == nil {
		impl, ranks := d.impl, d.ranks
		return phase{queue, func(c *chunk) algorithm { return newExchange(c, op, impl, ranks, size, back) }}
	}
	k := d.tree.build(d.tree.used%2 == 1)[c.n.id]
	d.tree.used++
	return phase{queue, func(c *chunk) algorithm { return &reduce{c: c, k: k, size: size} }}
}
