package workload

import (
	"fmt"
	"math"
	"math/big"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// ScaleOptions are the divisors. Zero means 1.
type ScaleOptions struct {
	// bytes, and rates of streams. The caller divides the fabric's rates by the same number, so that times
	// stay true.
	Scale float64
	// arrivals, deadlines, lifetimes, compute and reading times, and bytes: all of the run is that much
	// shorter at the same rates
	Speedup float64
}

// Scale returns copies of the jobs, divided. Arrivals and compute times are rounded to the nanosecond
// each: they are instants and lengths of their own, and no error adds up.
//
// Bytes are whole, and rounding is carried from flow to flow in the order given (an edge between stages
// counts as one flow): after every flow the sum is within half a byte of the exact quotient of the sum
// so far, except that no flow falls below 1 byte; what that costs is taken back from the flows before.
// So the sum of all flows times the divisor is the original sum to within half a divisor. It is an
// error when there are more flows than bytes left.
//
// Blocks that tasks read and predictions of recurring jobs are divided alike, each rounded by itself:
// whether a block is carried is known once its task is placed, and predictions never are.
func Scale(jobs []controller.Job, opt ScaleOptions) ([]controller.Job, error) {
	scale, err := divisor("scale", opt.Scale)
	if err != nil {
		return nil, err
	}
	speed, err := divisor("speedup", opt.Speedup)
	if err != nil {
		return nil, err
	}
	out := clone(jobs)
	both := new(big.Rat).Mul(scale, speed)
	for i := range out {
		j := &out[i]
		j.Arrival = shorten(j.Arrival, speed)
		if j.Deadline > 0 {
			j.Deadline = max(1, shorten(j.Deadline, speed)) // 0 would be none
		}
		if j.Lifetime > 0 {
			j.Lifetime = max(1, shorten(j.Lifetime, speed))
		}
		for k := range j.Edges {
			if r := &j.Edges[k].Rate; *r > 0 {
				*r = pathmap.BitsPerSecond(max(1, quotient(int64(*r), scale)))
			}
		}
		for s := range j.Stages {
			for t := range j.Stages[s].Tasks {
				x := &j.Stages[s].Tasks[t]
				x.Compute, x.NonLocal, x.Input = shorten(x.Compute, speed), shorten(x.NonLocal,
					speed), fewer(x.Input, both)
				if jobs[i].Stages[s].Tasks[t].Input > 0 {
					x.Input = max(1, x.Input) // 0 would be none
				}
				if x.Load > 0 {
					x.Load = max(1, shorten(x.Load, speed)) // 0 would be none
				}
			}
		}
		if p := j.Predicted; p != nil {
			p.MapTime, p.RedTime = shorten(p.MapTime, speed), shorten(p.RedTime, speed)
			p.Input, p.Shuffle = fewer(p.Input, both), fewer(p.Shuffle, both)
		}
	}
	if err := divide(sizes(out), both); err != nil {
		return nil, fmt.Errorf("scale jobs by %v at speedup %v: %w", number(scale), number(speed), err)
	}
	return out, nil
}

func divisor(what string, f float64) (*big.Rat, error) {
	switch {
	case f == 0:
		f = 1
	case math.IsNaN(f) || math.IsInf(f, 0) || f < 1e-6 || f > 1e12:
		return nil, fmt.Errorf("scale jobs: %s %v: take a number from 0.000001 to 1e12", what, f)
	}
	return new(big.Rat).SetFloat64(f), nil
}

func number(r *big.Rat) float64 { f, _ := r.Float64(); return f }

// shorten divides d, rounded to the nearest nanosecond.
func shorten(d time.Duration, by *big.Rat) time.Duration {
	return time.Duration(quotient(int64(d), by))
}

// fewer divides bytes of which none are carried; some stay some.
func fewer(b pathmap.Bytes, by *big.Rat) pathmap.Bytes {
	if b <= 0 {
		return b
	}
	return pathmap.Bytes(max(1, quotient(int64(b), by)))
}

// quotient returns n/by rounded to nearest, halves up; math.MaxInt64 where it does not fit.
func quotient(n int64, by *big.Rat) int64 {
	num := new(big.Int).Mul(big.NewInt(n), by.Denom())
	num.Lsh(num, 1).Add(num, by.Num())
	num.Div(num, new(big.Int).Lsh(by.Num(), 1))
	if !num.IsInt64() {
		return math.MaxInt64
	}
	return num.Int64()
}

// sizes returns where all sizes above zero are kept, in order.
func sizes(jobs []controller.Job) []*pathmap.Bytes {
	var out []*pathmap.Bytes
	for i := range jobs {
		for k := range jobs[i].Edges {
			e := &jobs[i].Edges[k]
			if e.FollowsTasks() && e.Bytes > 0 {
				out = append(out, &e.Bytes)
			}
			for f := range e.Flows {
				out = append(out, &e.Flows[f].Bytes)
			}
		}
	}
	return out
}

func divide(sizes []*pathmap.Bytes, by *big.Rat) error {
	var before, after, debt int64 // sums so far; debt: bytes given beyond the exact quotient
	for _, b := range sizes {
		if int64(*b) > math.MaxInt64-before {
			return fmt.Errorf("the bytes of all jobs overflow 63 bits: take fewer jobs")
		}
		before += int64(*b)
		want := quotient(before, by)
		*b = pathmap.Bytes(max(1, want-after))
		after += int64(*b)
		debt = after - want
	}
	if after-debt < int64(len(sizes)) {
		return fmt.Errorf("%d bytes are left for %d flows, and a flow has at least one: take a smaller scale", after-debt,
			len(sizes))
	}
	for i := len(sizes) - 1; i >= 0 && debt > 0; i-- {
		back := min(debt, int64(*sizes[i])-1)
		*sizes[i] -= pathmap.Bytes(back)
		debt -= back
	}
	return nil
}

// clone copies all that Scale writes to.
func clone(jobs []controller.Job) []controller.Job {
	out := make([]controller.Job, len(jobs))
	for i, j := range jobs {
		j.Stages = append([]controller.Stage(nil), j.Stages...)
		for s := range j.Stages {
			j.Stages[s].Tasks = append([]controller.Task(nil), j.Stages[s].Tasks...)
		}
		j.Edges = append([]controller.Edge(nil), j.Edges...)
		for k := range j.Edges {
			j.Edges[k].Flows = append([]controller.Flow(nil), j.Edges[k].Flows...)
		}
		if j.Predicted != nil {
			p := *j.Predicted
			j.Predicted = &p
		}
		out[i] = j
	}
	return out
}
