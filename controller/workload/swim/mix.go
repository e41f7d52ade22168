package swim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lightloom/pathmap"
)

// Mix is what share of the jobs shuffles much, and which jobs are too large to be drawn.
type Mix struct {
	Heavy     float64       // share of the jobs that shuffle Threshold and more
	Threshold pathmap.Bytes // such as T_e
	Shuffle   pathmap.Bytes // most of a job; 0: no limit
	Input     pathmap.Bytes // most of a job; 0: no limit
}

// Draw takes n records without replacement, of which the share Heavy (rounded) shuffles much, in order
// of their lines.
func (m *Mix) Draw(all []Record, n int, r *rand.Rand) ([]Record, error) {
	if n < 1 || !(m.Heavy >= 0 && m.Heavy <= 1) {
		return nil, fmt.Errorf("mix jobs: %d jobs, %g of them heavy: take at least 1, and a share from 0 to 1", n, m.Heavy)
	}
	heavy := int(math.Round(m.Heavy * float64(n)))
	light := n - heavy
	pool := slices.Clone(all)
	r.Shuffle(len(pool), func(i, k int) { pool[i], pool[k] = pool[k], pool[i] })
	var out []Record
	for _, rec := range pool {
		left := &light
		if rec.Shuffle >= m.Threshold {
			left = &heavy
		}
		if *left == 0 || m.Shuffle > 0 && rec.Shuffle > m.Shuffle || m.Input > 0 && rec.Input > m.Input {
			continue
		}
		*left--
		out = append(out, rec)
	}
	if heavy > 0 || light > 0 {
		return nil, fmt.Errorf("mix jobs: of %d records, %d that shuffle %d bytes and more are missing, and %d others: draw "+
			"fewer jobs, or raise the limits on shuffle and input", len(all), heavy, m.Threshold, light)
	}
	slices.SortFunc(out, func(a, b Record) int { return a.Line - b.Line })
	return out, nil
}
