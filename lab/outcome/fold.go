package outcome

import (
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// fold merges the coflows of each edge into one: bytes that were lost with a host and sent again count
// for the coflow that lost them. Those that brought blocks to tasks are left out. So coflows have the same
// numbers under every policy, whatever failed. fold changes no shared data.
func (o *Outcome) fold() {
	if !slices.ContainsFunc(o.State.Coflows, func(c *state.Coflow) bool { return c.Resent || c.Block }) {
		return
	}
	o.Read = o.blocksRead()
	number := make(map[southbound.CoflowID]southbound.CoflowID, len(o.State.Coflows))
	again := map[southbound.CoflowID]bool{} // of bytes that were sent again
	var edges []*state.Coflow
	for _, c := range o.State.Coflows {
		if c.Resent {
			number[c.ID], again[c.ID] = number[c.Of], true // which comes before it
			join(edges[number[c.ID]], c)
			continue
		}
		if c.Block {
			number[c.ID] = controller.AnyCoflow
			continue
		}
		number[c.ID] = southbound.CoflowID(len(edges))
		copied := *c
		copied.ID = number[c.ID]
		edges = append(edges, &copied)
	}
	folded := *o.State
	folded.Coflows = edges
	folded.Jobs = make([]*state.Job, len(o.State.Jobs))
	for i, j := range o.State.Jobs {
		copied := *j
		copied.FirstCoflow = number[j.FirstCoflow]
		copied.Redo, copied.Blocks = nil, nil
		folded.Jobs[i] = &copied
	}
	folded.Moves = append([]state.Move(nil), o.State.Moves...)
	for i := range folded.Moves {
		if n, known := number[folded.Moves[i].Coflow]; known {
			folded.Moves[i].Coflow = n
		}
	}
	o.State = &folded
	proofs := make(Proofs, len(o.Proofs))
	for c, proof := range o.Proofs {
		if n, known := number[c]; known && !again[c] && n != controller.AnyCoflow {
			proofs[n] = proof
		}
	}
	o.Proofs = proofs
}

// blocksRead sums up the blocks that tasks have read from other racks over the network.
func (o *Outcome) blocksRead() (r BlocksRead) {
	for _, c := range o.State.Coflows {
		if c.Block {
			r.Blocks += c.Flows
			r.Bytes += c.Bytes
		}
	}
	return r
}

// BlocksRead are blocks that tasks have read from other racks over the network.
type BlocksRead struct {
	Blocks int64
	Bytes  pathmap.Bytes
}

func (r BlocksRead) note() []string {
	if r.Blocks == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Tasks read %d blocks of %d bytes from other racks over the network, before they "+
		"computed. They count for the load of links, and for no completion time of coflows.", r.Blocks, r.Bytes)}
}

func join(to, c *state.Coflow) {
	to.Bytes += c.Bytes
	to.Local += c.Local
	to.Rack += c.Rack
	to.HostFlows += c.HostFlows
	to.Flows += c.Flows
	if c.Ended == state.Unset || to.Ended == state.Unset {
		to.Ended = state.Unset
	} else {
		to.Ended = max(to.Ended, c.Ended)
	}
}

// Unfinished lists, for the report, the jobs that had not ended when the run did.
func (o *Outcome) Unfinished() []string {
	n, first := 0, ""
	for _, j := range o.State.Jobs {
		if j.Ended != state.Unset {
			continue
		}
		if n++; n == 1 {
			first = fmt.Sprintf("job %d (%q)", j.ID, j.Name)
			if why := o.Reasons[j.ID]; why != "" {
				first += ": " + why
			}
		}
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d jobs had not ended when the run did, and are left out of all figures; the "+
		"first is %s.", n, len(o.State.Jobs), first)}
}

// cancelled returns a note on the jobs that were cancelled, and what they delivered.
func (o *Outcome) cancelled() []string {
	n, expired, sum := 0, 0, pathmap.Bytes(0)
	for _, j := range o.State.Jobs {
		if !j.Cancelled {
			continue
		}
		if n++; j.Expired {
			expired++
		}
		b, _ := Delivered(o.State, j, 0)
		sum += b
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d jobs were cancelled, %d of them at the end of their lifetime: their sinks had "+
		"received %d bytes (as run). They count for throughput, and for no completion time of jobs or coflows", n, expired,
		sum)}
}
