package collective

import (
	"fmt"
	"time"

	"lightloom/pathmap"
)

// Link carries one chunk at a time from one node to another.
type Link struct {
	From, To int32
	Rate     pathmap.BitsPerSecond
	Latency  time.Duration
}

// Network is nodes, numbered from 0, and directed links between them. Parallel links are links of their own.
type Network struct {
	Nodes int
	Links []Link
	// Hold keeps a link busy for its latency, too, as TACOS counts. Otherwise a link is free for the next chunk as soon
	// as it has sent the last bit of one, as ASTRA-sim counts.
	Hold bool
}

// MaxNodes and MaxChunks bound what is planned: state takes nodes × chunks bits, and a schedule nodes × chunks sends.
const (
	MaxNodes  = 1 << 12
	MaxChunks = 1 << 16
)

// Check returns what is wrong with a network: it is too large, a link leads nowhere or carries nothing, or a node
// cannot be reached from another one.
func (n *Network) Check() error {
	if n.Nodes < 1 || n.Nodes > MaxNodes {
		return fmt.Errorf("check network: %d nodes; take 1 to %d", n.Nodes, MaxNodes)
	}
	for i, l := range n.Links {
		switch {
		case l.From < 0 || l.To < 0 || int(l.From) >= n.Nodes || int(l.To) >= n.Nodes:
			return fmt.Errorf("check network: link %d leads from node %d to node %d of %d", i, l.From, l.To, n.Nodes)
		case l.From == l.To:
			return fmt.Errorf("check network: link %d leads from node %d to itself", i, l.From)
		case l.Rate <= 0 || l.Latency < 0:
			return fmt.Errorf("check network: link %d has rate %v and latency %v; take more than 0, and 0 or more", i,
				l.Rate, l.Latency)
		}
	}
	for _, m := range []*Network{n, n.Transpose()} {
		for node, hops := range m.Hops(0) {
			if hops < 0 {
				return fmt.Errorf("check network: there is no path both ways between nodes 0 and %d", node)
			}
		}
	}
	return nil
}

// Transpose returns the network with every link turned around, under the same number.
func (n *Network) Transpose() *Network {
	t := &Network{Nodes: n.Nodes, Links: make([]Link, len(n.Links)), Hold: n.Hold}
	for i, l := range n.Links {
		l.From, l.To = l.To, l.From
		t.Links[i] = l
	}
	return t
}

// Without returns the network without some of its links, and the number that each link left had before.
func (n *Network) Without(dead ...int32) (*Network, []int32) {
	gone := make([]bool, len(n.Links))
	for _, l := range dead {
		gone[l] = true
	}
	out, was := &Network{Nodes: n.Nodes, Hold: n.Hold}, []int32(nil)
	for i, l := range n.Links {
		if !gone[i] {
			out.Links, was = append(out.Links, l), append(was, int32(i))
		}
	}
	return out, was
}

// Hops returns how many links each node is away from one, or below zero where no path leads there.
func (n *Network) Hops(from int32) []int32 { return n.hops(n.byFrom(), from) }

func (n *Network) hops(out index, from int32) []int32 {
	hops := make([]int32, n.Nodes)
	for i := range hops {
		hops[i] = -1
	}
	hops[from] = 0
	queue := append(make([]int32, 0, n.Nodes), from)
	for i := 0; i < len(queue); i++ {
		for _, l := range out.of(queue[i]) {
			if to := n.Links[l].To; hops[to] < 0 {
				hops[to] = hops[queue[i]] + 1
				queue = append(queue, to)
			}
		}
	}
	return hops
}

// busy returns how long a link is taken by so many bytes, and how long they are under way.
func (n *Network) busy(link int32, b pathmap.Bytes) (taken, arrives time.Duration) {
	l := n.Links[link]
	sent := b.Over(l.Rate)
	if n.Hold {
		return sent + l.Latency, sent + l.Latency
	}
	return sent, sent + l.Latency
}

// index lists links by node.
type index struct{ first, links []int32 }

func (x index) of(node int32) []int32 { return x.links[x.first[node]:x.first[node+1]] }

func (n *Network) byFrom() index { return n.by(func(l Link) int32 { return l.From }) }
func (n *Network) byTo() index   { return n.by(func(l Link) int32 { return l.To }) }

func (n *Network) by(node func(Link) int32) index {
	x := index{make([]int32, n.Nodes+2), make([]int32, len(n.Links))}
	for _, l := range n.Links {
		x.first[node(l)+2]++
	}
	for i := 2; i < len(x.first); i++ {
		x.first[i] += x.first[i-1]
	}
	for i, l := range n.Links {
		at := &x.first[node(l)+1]
		x.links[*at] = int32(i)
		*at++
	}
	x.first = x.first[:n.Nodes+1]
	return x
}
