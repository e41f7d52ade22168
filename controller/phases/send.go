package phases

import (
	"math"
	"slices"

	"lightloom/controller/topoeng"
)

// pair is data from a rack to another one, and the circuits between them: those that carry all the time, and all that
// carry when the dark time is over.
type pair struct {
	from, to    int
	bits        float64
	first, then float64 // bit/s
}

// sending returns how many seconds data takes: over circuits that two topologies share and over packets for a dark
// time, and over all circuits of the second from then on. Packets are shared so that all ends together; a rack is what
// limits them. It is infinite where something is never carried.
func (f Fabric) sending(d topoeng.Demand, before, after topoeng.Counts, dark float64) float64 {
	if f.Steered {
		return f.steered(d, before, after, dark)
	}
	var pairs []pair
	most := 0.0
	for i := range d {
		for j, bytes := range d[i] {
			if bytes == 0 {
				continue
			}
			p := pair{i, j, bytes * 8, float64(before[i][j]) * float64(f.Circuit), float64(after[i][j]) * float64(f.Circuit)}
			pairs = append(pairs, p)
			most = max(most, p.alone(dark))
		}
	}
	if f.Packets == 0 || len(pairs) == 0 {
		return most
	}
	// Time is bisected: with more of it, less is left to packets, and they carry more.
	low, high := 0.0, dark+least([]Form{{Demand: d}}, float64(f.Packets))
	rows, cols := make([]float64, f.Racks), make([]float64, f.Racks)
	for range 64 {
		mid := low + (high-low)/2
		if f.enough(pairs, rows, cols, dark, mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high
}

// steered is sending where racks with a circuit send over it alone, and others over packets.
func (f Fabric) steered(d topoeng.Demand, before, after topoeng.Counts, dark float64) (most float64) {
	rows, cols := make([]float64, f.Racks), make([]float64, f.Racks)
	for i := range d {
		for j, bytes := range d[i] {
			switch {
			case bytes == 0:
			case after[i][j] > 0:
				p := pair{i, j, bytes * 8, float64(before[i][j]) * float64(f.Circuit), float64(after[i][j]) * float64(f.Circuit)}
				most = max(most, p.alone(dark))
			case f.Packets == 0:
				return math.Inf(1)
			default:
				rows[i] += bytes * 8
				cols[j] += bytes * 8
			}
		}
	}
	if f.Packets > 0 {
		most = max(most, slices.Max(rows)/float64(f.Packets), slices.Max(cols)/float64(f.Packets))
	}
	return most
}

// alone returns how many seconds circuits alone take for a pair.
func (p pair) alone(dark float64) float64 {
	if p.first*dark >= p.bits {
		return p.bits / p.first
	}
	if p.then == 0 {
		return math.Inf(1)
	}
	return dark + (p.bits-p.first*dark)/p.then
}

// enough reports whether packets carry in a time what circuits leave of it.
func (f Fabric) enough(pairs []pair, rows, cols []float64, dark, seconds float64) bool {
	clear(rows)
	clear(cols)
	room := float64(f.Packets) * seconds
	for _, p := range pairs {
		left := p.bits - p.first*min(dark, seconds) - p.then*max(0, seconds-dark)
		if left <= 0 {
			continue
		}
		rows[p.from] += left
		cols[p.to] += left
		if rows[p.from] > room || cols[p.to] > room {
			return false
		}
	}
	return true
}
