package certified

import "math"

// Candidates is a Router over listed paths, by flow. Earlier ones win ties.
type Candidates [][][]int32

// Cheapest implements Router.
func (c Candidates) Cheapest(flow int, length []float64, most float64) (best []int32, cost float64) {
	cost = math.Inf(1)
	for _, links := range c[flow] {
		sum := 0.0
		for _, l := range links {
			sum += length[l]
		}
		if sum < min(cost, most) {
			best, cost = links, sum
		}
	}
	return best, cost
}

// narrowest returns the width of a path.
func narrowest(links []int32, width []float64) float64 {
	least := math.Inf(1)
	for _, l := range links {
		least = min(least, width[l])
	}
	return least
}

// Widest implements Router.
func (c Candidates) Widest(flow int, width []float64) (best []int32) {
	most := 0.0
	for _, links := range c[flow] {
		if w := narrowest(links, width); w > most || w == most && w > 0 && len(links) < len(best) {
			best, most = links, w
		}
	}
	return best
}

// Shortest implements Router.
func (c Candidates) Shortest(flow int, width []float64) (best []int32) {
	most := 0.0
	for _, links := range c[flow] {
		w := narrowest(links, width)
		if w > 0 && (best == nil || len(links) < len(best) || len(links) == len(best) && w > most) {
			best, most = links, w
		}
	}
	return best
}
