package demand

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/southbound"
)

// Counter is how much one host has sent another since the switch that counts was started, at layer 2.
type Counter struct {
	Src, Dst southbound.HostID
	Bytes    pathmap.Bytes
}

// Sample is counters read together, sorted by (Src, Dst), each pair once.
type Sample struct {
	At       time.Duration // instant of the run
	Counters []Counter
}

// CounterOptions configure how two samples become an estimate.
type CounterOptions struct {
	Racks, HostsPerRack int
	HostRack            []int32               // by host, where racks differ; nil: HostsPerRack in each
	NIC                 pathmap.BitsPerSecond // of every host, each way
	Least               pathmap.BitsPerSecond // a pair that sends less is no elephant; Helios has 15 Mb/s
	Ahead               time.Duration         // for how long the estimate is to last
}

// Counters estimates demand from two samples, as Helios does (Farrington et al., Helios: a hybrid
// electrical/optical switch architecture for modular data centers, SIGCOMM 2010, sections 4.2 and 4.3).
// What a pair sends shows the network that holds it back and not its wish; so the pairs that send at
// all, and enough, are given the max-min fair rates of a network in which only hosts' own links bind
// (the demand estimate of Al-Fares et al., Hedera, NSDI 2010, section 4.2), but no pair less than it
// sends. The matrix is those rates for a while.
//
// A counter that is smaller than before was restarted and counts from zero. It is an error if now is
// not later than last, if a host is outside the fabric, or if a sample is out of order.
func Counters(last, now Sample, opt CounterOptions) (Matrix, error) {
	over := now.At - last.At
	if over <= 0 {
		return nil, fmt.Errorf("estimate demand: the samples are of %v and %v: the second must be later", last.At, now.At)
	}
	if opt.Racks < 1 || opt.HostsPerRack < 1 || opt.NIC <= 0 {
		return nil, fmt.Errorf("estimate demand: %d racks of %d hosts at %v: take at least 1, 1 and a rate above zero",
			opt.Racks, opt.HostsPerRack, opt.NIC)
	}
	for _, s := range [2]Sample{last, now} {
		if err := s.check(opt.hosts()); err != nil {
			return nil, fmt.Errorf("estimate demand: sample of %v: %w", s.At, err)
		}
	}
	sent := elephants(last, now, over, opt)
	rates := fair(sent, opt)
	m := New(opt.Racks)
	for i, p := range sent {
		s, d := opt.rackOf(p.src), opt.rackOf(p.dst)
		if s != d {
			m[s][d] += max(rates[i], p.rate).In(opt.Ahead)
		}
	}
	return m, nil
}

func (o *CounterOptions) rackOf(h southbound.HostID) int {
	if o.HostRack != nil {
		return int(o.HostRack[h])
	}
	return int(h) / o.HostsPerRack
}

func (o *CounterOptions) hosts() int {
	if o.HostRack != nil {
		return len(o.HostRack)
	}
	return o.Racks * o.HostsPerRack
}

func (s *Sample) check(hosts int) error {
	for i, c := range s.Counters {
		switch {
		case c.Src < 0 || int(c.Src) >= hosts || c.Dst < 0 || int(c.Dst) >= hosts:
			return fmt.Errorf("counter %d→%d: the fabric's hosts are 0 to %d", c.Src, c.Dst, hosts-1)
		case c.Bytes < 0:
			return fmt.Errorf("counter %d→%d is %d, below zero", c.Src, c.Dst, c.Bytes)
		case i > 0 && byPair(s.Counters[i-1], c) >= 0:
			return fmt.Errorf("counter %d→%d comes after %d→%d: sort by source, then destination, each pair once", c.Src, c.Dst,
				s.Counters[i-1].Src, s.Counters[i-1].Dst)
		}
	}
	return nil
}

func byPair(a, b Counter) int {
	return cmp.Or(cmp.Compare(a.Src, b.Src), cmp.Compare(a.Dst, b.Dst))
}

// sender is a pair of hosts that sends enough to be an elephant.
type sender struct {
	src, dst southbound.HostID
	rate     pathmap.BitsPerSecond // as counted, at most the hosts' links
}

func elephants(last, now Sample, over time.Duration, opt CounterOptions) (all []sender) {
	for _, c := range now.Counters {
		bytes := c.Bytes
		if i, ok := slices.BinarySearchFunc(last.Counters, c, byPair); ok && last.Counters[i].Bytes <= c.Bytes {
			bytes -= last.Counters[i].Bytes
		}
		rate := min(pathmap.BitsPerSecond(float64(bytes)*8e9/float64(over)), opt.NIC)
		if bytes > 0 && rate >= opt.Least {
			all = append(all, sender{c.Src, c.Dst, rate})
		}
	}
	return all
}

// fair returns the rate of each pair where only hosts' own links bind: link 2h is host h's way out,
// 2h+1 its way in.
func fair(all []sender, opt CounterOptions) []pathmap.BitsPerSecond {
	capacity := slices.Repeat([]float64{float64(opt.NIC)}, 2*opt.hosts())
	classes, rates := make([]maxmin.Class, len(all)), make([]float64, len(all))
	for i, p := range all {
		classes[i] = maxmin.Class{Links: []pathmap.LinkID{pathmap.LinkID(2 * p.src),
			pathmap.LinkID(2*p.dst + 1)}, Flows: 1}
	}
	new(maxmin.Solver).Solve(capacity, classes, rates)
	out := make([]pathmap.BitsPerSecond, len(all))
	for i, r := range rates {
		out[i] = pathmap.BitsPerSecond(r)
	}
	return out
}
