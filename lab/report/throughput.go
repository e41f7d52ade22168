package report

import (
	"slices"
	"time"

	"lightloom/pathmap"
)

// Throughput is the statistics of jobs' throughput, in bits of payload a second: the bytes that each delivered at its
// sinks ÷ the time that it ran.
type Throughput struct {
	Count int     `json:"count"`
	Mean  float64 `json:"mean"`
	P5    float64 `json:"p5"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	// All is what all jobs delivered ÷ the makespan.
	All float64 `json:"all"`
}

// Throughput returns the bytes that the job delivered at its sinks ÷ the time from its start to its end, in bits a
// second. The time is at least what the links of the sinks' hosts take, so that bytes within a host cannot give a rate
// above the link's. Zero if the job delivers nothing.
func (j *JobResult) Throughput() float64 {
	took := max(j.End-j.Start, j.Least)
	if j.Delivered <= 0 || took <= 0 {
		return 0
	}
	return float64(j.Delivered) * 8 / took.Seconds()
}

func throughput(jobs []JobResult, makespan time.Duration) *Throughput {
	var v []float64
	all := pathmap.Bytes(0)
	for i := range jobs {
		if t := jobs[i].Throughput(); t > 0 {
			v = append(v, t)
			all += jobs[i].Delivered
		}
	}
	if len(v) == 0 {
		return nil
	}
	slices.Sort(v)
	t := &Throughput{Count: len(v), Mean: Mean(v), P5: Percentile(v, .05), P50: Percentile(v, .5),
		P95: Percentile(v, .95)}
	if makespan > 0 {
		t.All = float64(all) * 8 / makespan.Seconds()
	}
	return t
}

// megabits writes a throughput, of which more is better.
func megabits(p *Policy, of func(*Throughput) float64) string {
	if p.Throughput == nil {
		return "–"
	}
	return sig(of(p.Throughput) / 1e6)
}
