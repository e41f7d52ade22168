package phases

import (
	"fmt"
	"time"

	"lightloom/controller/topoeng"
	"lightloom/pathmap"
)

// Kind is what a phase is for.
type Kind string

// The kinds of parallelism that phases come from.
const (
	DP Kind = "DP" // data
	TP Kind = "TP" // tensor
	PP Kind = "PP" // pipeline
	EP Kind = "EP" // expert
)

// Phase is computing and sending. The next phase begins when both are done.
type Phase struct {
	Kind    Kind
	Compute time.Duration
	Overlap bool   // it sends from its beginning on; otherwise when it has computed
	Forms   []Form // ways to send what is to be sent; one is taken. None: it sends nothing
}

// Form is bytes between racks, [from][to]: of a collective over a ring, say, or of the same one directly.
type Form struct {
	Name   string
	Demand topoeng.Demand
}

// Fabric is what racks are joined by.
type Fabric struct {
	Racks    int
	Switches int                   // each has a port, in and out, for every rack
	Circuit  pathmap.BitsPerSecond // rate of a circuit
	Packets  pathmap.BitsPerSecond // rate of a rack into the packet network, and out of it; 0: there is none
	Delta    time.Duration         // circuits that move are dark for so long
	// Steered has two racks that are joined by a circuit send over that alone, as tables do that steer host flows: no two
	// have two circuits of the same direction.
	Steered bool
	// RailCount has circuits join racks alone whose numbers are the same modulo it, as topo.Spec.CircuitMayJoin; 0: any.
	RailCount int
}

// Check returns what is wrong with a fabric and an iteration.
func (f Fabric) Check(iteration []Phase) error {
	switch {
	case f.Racks < 2 || f.Switches < 0 || f.Circuit < 0 || f.Packets < 0 || f.Delta < 0:
		return fmt.Errorf("decide phases: %d racks, %d switches, rates %v and %v, delay %v; take 2 racks at least, and "+
			"nothing below 0", f.Racks, f.Switches, f.Circuit, f.Packets, f.Delta)
	case len(iteration) == 0:
		return fmt.Errorf("decide phases: an iteration has 1 phase at least")
	}
	seen := map[*Form]bool{}
	for i := range iteration {
		p := &iteration[i]
		if p.Compute < 0 {
			return fmt.Errorf("decide phases: phase %d computes for %v; take 0 or more", i, p.Compute)
		}
		for k := range p.Forms {
			if seen[&p.Forms[k]] {
				continue // phases that repeat share their forms
			}
			seen[&p.Forms[k]] = true
			if len(p.Forms[k].Demand) != f.Racks {
				return fmt.Errorf("decide phases: phase %d, %s: demand of %d racks; the fabric has %d", i, p.Forms[k].Name,
					len(p.Forms[k].Demand), f.Racks)
			}
			if err := p.Forms[k].Demand.Check(); err != nil {
				return fmt.Errorf("decide phases: phase %d, %s: %w", i, p.Forms[k].Name, err)
			}
		}
	}
	return nil
}

// Rails returns how long an iteration takes on a packet network with the rate of all circuits and packets of a rack.
// Nothing on the fabric is faster: no rack sends or receives more.
func (f Fabric) Rails(iteration []Phase) time.Duration {
	rate := float64(f.Switches)*float64(f.Circuit) + float64(f.Packets)
	memo := map[*Form]float64{}
	sum := 0.0
	for i := range iteration {
		p := &iteration[i]
		send := 0.0
		if len(p.Forms) > 0 {
			first := &p.Forms[0]
			if _, ok := memo[first]; !ok {
				memo[first] = least(p.Forms, rate)
			}
			send = memo[first]
		}
		sum += p.lasts(0, send)
	}
	return time.Duration(sum * 1e9)
}

// least returns how many seconds the busiest rack takes at a rate, in the form that is best.
func least(forms []Form, rate float64) float64 {
	best := -1.0
	for _, f := range forms {
		most := 0.0
		for i := range f.Demand {
			row, col := 0.0, 0.0
			for j := range f.Demand {
				row, col = row+f.Demand[i][j], col+f.Demand[j][i]
			}
			most = max(most, row*8/rate, col*8/rate)
		}
		if best < 0 || most < best {
			best = most
		}
	}
	return best
}

// lasts returns how many seconds a phase lasts whose circuits move for so long, and that sends for so long.
func (p *Phase) lasts(moving, sending float64) float64 {
	if p.Overlap {
		return max(p.Compute.Seconds(), sending, moving)
	}
	return max(p.Compute.Seconds()+sending, moving)
}
