// Package collectivetest replays schedules of collectives on links, without the code that made them, and tells whether
// every chunk is where it is sent from, each link carries one at a time, all arrives where it should, and the time told
// is true.
package collectivetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/controller/collective"
)

// event is the beginning or the arrival of a send.
type event struct {
	at      time.Duration
	arrives bool
	send    int
}

// Check returns an error unless a schedule does on a network what its kind says.
func Check(n *collective.Network, s *collective.Schedule) error {
	events, ends, err := onLinks(n, s)
	if err != nil {
		return err
	}
	if ends != s.Ends {
		return fmt.Errorf("the last chunk arrives at %v, and the schedule says %v", ends, s.Ends)
	}
	if s.Kind == collective.KindReduceScatter {
		return reduced(n, s, events)
	}
	return moved(n, s, events)
}

// onLinks checks what the links have to do, and returns all events in order: of one instant, arrivals come first.
func onLinks(n *collective.Network, s *collective.Schedule) (events []event, ends time.Duration, err error) {
	free := make([]time.Duration, len(n.Links))
	before := time.Duration(0)
	for i, x := range s.Sends {
		if x.Link < 0 || int(x.Link) >= len(n.Links) {
			return nil, 0, fmt.Errorf("send %d: there is no link %d", i, x.Link)
		}
		if x.At < before {
			return nil, 0, fmt.Errorf("send %d begins at %v, after one at %v", i, x.At, before)
		}
		before = x.At
		if x.At < free[x.Link] {
			return nil, 0, fmt.Errorf("send %d: link %d carries another chunk until %v, and this one begins at %v", i, x.Link,
				free[x.Link], x.At)
		}
		l := n.Links[x.Link]
		sent := x.At + s.Bytes.Over(l.Rate)
		free[x.Link] = sent
		if n.Hold {
			free[x.Link] += l.Latency
		}
		ends = max(ends, sent+l.Latency)
		events = append(events, event{x.At, false, i}, event{sent + l.Latency, true, i})
	}
	slices.SortFunc(events, func(a, b event) int {
		first := 0
		if a.arrives != b.arrives {
			first = 1
			if a.arrives {
				first = -1
			}
		}
		return cmp.Or(cmp.Compare(a.at, b.at), first, cmp.Compare(a.send, b.send))
	})
	return events, ends, nil
}

// place is a chunk at a node.
type place struct{ node, chunk int32 }

// moved checks chunks that are copied from node to node.
func moved(n *collective.Network, s *collective.Schedule, events []event) error {
	chunks := n.Nodes * s.Chunks
	if s.Kind == collective.KindAllToAll {
		chunks *= n.Nodes
	}
	has := make([]bool, n.Nodes*chunks) // by node and chunk
	for c := range chunks {
		has[c/(chunks/n.Nodes)*chunks+c] = true
	}
	for _, e := range events {
		x := s.Sends[e.send]
		if x.Chunk < 0 || int(x.Chunk) >= chunks {
			return fmt.Errorf("send %d: there is no chunk %d", e.send, x.Chunk)
		}
		l := n.Links[x.Link]
		if e.arrives {
			has[int(l.To)*chunks+int(x.Chunk)] = true
		} else if !has[int(l.From)*chunks+int(x.Chunk)] {
			return fmt.Errorf("send %d at %v: node %d does not have chunk %d yet", e.send, x.At, l.From, x.Chunk)
		}
	}
	for v := range n.Nodes {
		for c := range chunks {
			wanted := s.Kind != collective.KindAllToAll || c/s.Chunks%n.Nodes == v
			if wanted && !has[v*chunks+c] {
				return fmt.Errorf("chunk %d never arrives at node %d", c, v)
			}
		}
	}
	return nil
}

// reduced checks chunks that are added up on their way: no part twice, and none lost.
func reduced(n *collective.Network, s *collective.Schedule, events []event) error {
	words := (n.Nodes + 63) / 64
	// The parts that a node has added up of a chunk, and what it has sent on.
	parts, gone := map[place][]uint64{}, map[place]bool{}
	for v := range int32(n.Nodes) {
		for c := range int32(n.Nodes * s.Chunks) {
			parts[place{v, c}] = make([]uint64, words)
			parts[place{v, c}][v/64] |= 1 << (v % 64)
		}
	}
	for _, e := range events {
		x := s.Sends[e.send]
		from, to := place{n.Links[x.Link].From, x.Chunk}, place{n.Links[x.Link].To, x.Chunk}
		if !e.arrives {
			if gone[from] {
				return fmt.Errorf("send %d: node %d sends its part of chunk %d twice", e.send, from.node, x.Chunk)
			}
			gone[from] = true
			continue
		}
		if gone[to] {
			return fmt.Errorf("send %d: chunk %d arrives at node %d after that has sent its part on", e.send, x.Chunk, to.node)
		}
		for w, more := range parts[from] {
			if parts[to][w]&more != 0 {
				return fmt.Errorf("send %d: node %d adds a part of chunk %d twice", e.send, to.node, x.Chunk)
			}
			parts[to][w] |= more
		}
	}
	for c := range int32(n.Nodes * s.Chunks) {
		for v := range n.Nodes {
			if parts[place{c / int32(s.Chunks), c}][v/64]>>(v%64)&1 == 0 {
				return fmt.Errorf("chunk %d: the part of node %d is lost", c, v)
			}
		}
	}
	return nil
}
