package training

import (
	"cmp"
	"slices"
)

// Progress is how far the nodes of one rank are.
type Progress struct {
	nodes    []Node
	waits    []int32   // by node: how many others it waits for
	children [][]int32 // by node
	free     []int32   // nodes that wait for no other, by id
	left     int
}

// NewProgress returns the progress of nodes of which none has begun.
func NewProgress(nodes []Node) *Progress {
	p := &Progress{nodes: nodes, waits: make([]int32, len(nodes)), children: make([][]int32, len(nodes)),
		left: len(nodes)}
	for i := range nodes {
		p.waits[i] = int32(len(nodes[i].After))
		for _, a := range nodes[i].After {
			p.children[a] = append(p.children[a], int32(i))
		}
		if p.waits[i] == 0 {
			p.release(int32(i))
		}
	}
	return p
}

// release adds a node to those that may begin.
func (p *Progress) release(i int32) {
	at, _ := slices.BinarySearchFunc(p.free, i, p.compare)
	p.free = slices.Insert(p.free, at, i)
}

func (p *Progress) compare(a, b int32) int {
	return cmp.Or(cmp.Compare(p.nodes[a].ID, p.nodes[b].ID), cmp.Compare(a, b))
}

// Free returns the nodes that wait for no other and were not taken, by id.
func (p *Progress) Free() []int32 { return slices.Clone(p.free) }

// Take takes a free node, which begins. It returns false if the node has been taken meanwhile.
func (p *Progress) Take(i int32) bool {
	at, ok := slices.BinarySearchFunc(p.free, i, p.compare)
	if ok {
		p.free = slices.Delete(p.free, at, at+1)
	}
	return ok
}

// End ends a node that was taken.
func (p *Progress) End(i int32) {
	p.left--
	for _, c := range p.children[i] {
		if p.waits[c]--; p.waits[c] == 0 {
			p.release(c)
		}
	}
}

// Left returns how many nodes have not ended.
func (p *Progress) Left() int { return p.left }
