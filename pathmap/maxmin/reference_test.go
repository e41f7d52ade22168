package maxmin

import "math"

// reference fills all classes together, a step at a time: it raises every open class to the smallest
// level at which a link is full or a class has its bound, sums up everything anew, closes what cannot
// rise, and repeats.
func reference(capacity []float64, classes []Class) []float64 {
	rate := make([]float64, len(classes))
	closed := make([]bool, len(classes))
	for i, c := range classes {
		if c.Flows <= 0 {
			closed[i] = true
		}
	}
	for {
		level := math.Inf(1)
		any := false
		for i, c := range classes {
			if closed[i] {
				continue
			}
			any = true
			if c.Max > 0 {
				level = min(level, c.Max)
			}
		}
		if !any {
			return rate
		}
		shares := make([]float64, len(capacity))
		for l := range capacity {
			left, flows := capacity[l], 0.0
			for i, c := range classes {
				for _, id := range c.Links {
					if int(id) == l && closed[i] {
						left -= rate[i] * c.Flows
					} else if int(id) == l {
						flows += c.Flows
					}
				}
			}
			shares[l] = math.Inf(1)
			if flows > 0 {
				shares[l] = max(left, 0) / flows
			}
			level = min(level, shares[l])
		}
		for i, c := range classes {
			if closed[i] {
				continue
			}
			rate[i] = level
			closed[i] = c.Max > 0 && c.Max <= level || math.IsInf(level, 1)
			for _, id := range c.Links {
				closed[i] = closed[i] || shares[id] <= level*(1+1e-12)
			}
		}
	}
}
