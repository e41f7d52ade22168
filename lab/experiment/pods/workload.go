package pods

import (
	"math"

	"lightloom/controller/torus"
)

// Job asks for a slice for a while.
type Job struct {
	Arrive, Last int64 // seconds
	Shape        torus.Shape
}

// Mix is shapes of jobs, with shares that need not add up to anything.
type Mix []struct {
	Shape torus.Shape
	Share float64
}

// tpu is the mix of TPU v4 jobs in per cent (Jouppi and others, ISCA 2023, Table 2), up to 16 nodes a side.
func tpu() Mix {
	twisted := func(x, y, z int) torus.Shape { return torus.Shape{Sides: [3]int{x, y, z}, Twisted: true} }
	return Mix{
		{torus.Box(1, 1, 1), 2.1}, {torus.Box(1, 1, 2), 0.4}, {torus.Box(1, 2, 2), 6.7}, {torus.Box(2, 2, 2), 4.7},
		{torus.Box(2, 2, 4), 6.4}, {torus.Box(2, 4, 4), 8.9}, {torus.Box(4, 4, 4), 13.9},
		{twisted(4, 4, 8), 16}, {torus.Box(4, 4, 8), 1.5}, {torus.Box(4, 4, 12), 0.7},
		{twisted(4, 8, 8), 9.2}, {torus.Box(4, 8, 8), 1.5}, {torus.Box(4, 4, 16), 1}, {torus.Box(4, 8, 12), 0.1},
		{torus.Box(8, 8, 8), 9.6}, {torus.Box(4, 8, 16), 1.7}, {torus.Box(8, 8, 12), 0.7},
		{twisted(8, 8, 16), 1.8}, {torus.Box(8, 8, 16), 1.4}, {torus.Box(4, 16, 16), 0.3}, {torus.Box(8, 12, 16), 0.1},
		{twisted(8, 16, 16), 1.4}, {torus.Box(8, 16, 16), 0.3}, {torus.Box(12, 16, 16), 5.7},
	}
}

// sheets is a mix of ours in which folding and re-wiring differ: half of it the mix of TPU v4 jobs, half of it jobs of
// two dimensions, as those of tensor and pipeline parallelism are, in equal shares.
func sheets() Mix {
	m, sum := tpu(), 0.0
	for _, s := range m {
		sum += s.Share
	}
	flat := []torus.Shape{torus.Box(1, 4, 8), torus.Box(1, 4, 16), torus.Box(1, 8, 8), torus.Box(1, 8, 16),
		torus.Box(2, 4, 8), torus.Box(2, 8, 8), torus.Box(2, 8, 16), torus.Box(1, 16, 16)}
	for _, s := range flat {
		m = append(m, struct {
			Shape torus.Shape
			Share float64
		}{s, sum / float64(len(flat))})
	}
	return m
}

// splitMix is the generator SplitMix64 (Steele, Lea, Flood, 2014).
type splitMix uint64

func (s *splitMix) next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// uniform returns a number from 0 up to below 1.
func (s *splitMix) uniform() float64 { return float64(s.next()>>11) * 0x1p-53 }

func (s *splitMix) exponential(mean float64) float64 { return -mean * math.Log(1-s.uniform()) }

// shape draws a shape of a mix.
func (s *splitMix) shape(m Mix) torus.Shape {
	sum := 0.0
	for _, e := range m {
		sum += e.Share
	}
	u := s.uniform() * sum
	for _, e := range m {
		if u -= e.Share; u < 0 {
			return e.Shape
		}
	}
	return m[len(m)-1].Shape
}

// Draw draws jobs: for each a gap, a shape and a duration. Gaps and durations are exponential and rounded to
// seconds, a duration to one at least. The first job arrives at 0, whatever its gap.
func Draw(m Mix, jobs int, gap, duration float64, seed uint64) []Job {
	s, at := splitMix(seed), int64(0)
	out := make([]Job, jobs)
	for i := range out {
		wait := int64(math.Round(s.exponential(gap)))
		if i > 0 {
			at += wait
		}
		shape := s.shape(m)
		out[i] = Job{Arrive: at, Last: max(1, int64(math.Round(s.exponential(duration)))), Shape: shape}
	}
	return out
}
