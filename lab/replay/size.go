package replay

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"lightloom/lab/console"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// size is how large a demo is. Scale divides bytes and rates, which costs less of the machine. A speedup
// below 1 makes all of it longer, so that what the machine adds is a smaller part. Fewer jobs, which come
// at the same rate, make up for the time that this takes.
type size struct {
	scale, speedup float64
	jobs           int
}

// demoJobs is how many a demo has at most, and withinDemo is how long it may take in all.
const (
	demoJobs   = 40
	withinDemo = 60 * time.Second
)

// Beside the rows a demo measures the machine, tries sizes and compares seeds on the simulator, the last after the
// rows; aroundRow is what a row takes before its first job and after its last.
const (
	besideRows = 8 * time.Second
	afterRows  = 2 * time.Second
	aroundRow  = 1500 * time.Millisecond
)

// goTimer is how late the runtime's own timers are at most where threads wake at once: they count whole
// milliseconds.
const goTimer = 1050 * time.Microsecond

// wanted is the expected error that is chosen for: a tenth below what marks a row, since timers are not
// equally late in every row.
const wanted = 0.9 * report.MarkedError

// sizes are what is tried at a scale, from that with the most jobs on. Jobs become fewer faster than they
// become longer, since those under random+ecmp wait for each other. Fewer than ten are no longer of all kinds.
func sizes(scale float64, training bool) []size {
	if training { // one job, whose phases become longer
		return []size{{scale, 1, 1}, {scale, 1. / 2, 1}, {scale, 1. / 3, 1}, {scale, 1. / 4, 1}}
	}
	return []size{{scale, 1, demoJobs}, {scale, 1. / 2, 28}, {scale, 1. / 2.5, 20}, {scale, 1. / 3, 16},
		{scale, 1. / 3.5, 14}, {scale, 1. / 3.5, 10}, {scale, 1. / 4, 12}, {scale, 1. / 4, 10}}
}

// trial is what the simulator says of a size.
type trial struct {
	size
	rows []report.Health // what is known of each row's error beforehand
	took time.Duration   // of all rows, on packets
}

// expect completes what a trial says of the errors by what was measured of the machine, and returns the
// largest.
func (t *trial) expect(m machine) (most float64) {
	for i := range t.rows {
		h := t.rows[i]
		h.TimerP99, h.StolenCores, h.Realtime = (m.late + goTimer).Seconds(), m.busy, m.realtime
		h.Expect()
		most = max(most, h.Expected)
	}
	return most
}

// choose returns the first size whose rows' expected errors are as wanted, of those that end in time; without
// such a one that with the least error. All is foretold: a run states its own error.
func choose(m machine, all []size, try func(size) (trial, error)) (best trial, expected float64, err error) {
	expected = math.Inf(1)
	for _, z := range all {
		t, err := try(z)
		if err != nil {
			return trial{}, 0, err
		}
		if t.took > withinDemo-besideRows && len(best.rows) > 0 {
			continue
		}
		if e := t.expect(m); e < expected {
			best, expected = t, e
		}
		if expected <= wanted {
			break
		}
	}
	return best, expected, nil
}

// fitDemo sets scale, speedup and jobs of a demo where its options leave them open: on packets, by what it
// measures of the machine. note says what was measured, and what follows.
func fitDemo(ctx context.Context, opt scenario.Options) (_ scenario.Options, note string, err error) {
	if opt.On != scenario.OnNetns {
		opt.Scale, opt.Speedup = cmp.Or(opt.Scale, 1), cmp.Or(opt.Speedup, 1)
		return opt, "", nil
	}
	if opt.Scale > 0 && opt.Speedup > 0 && opt.Coflows > 0 {
		return opt, "", nil
	}
	m, err := measureMachine(ctx)
	if err != nil {
		return opt, "", err
	}
	scale := opt.Scale
	if scale == 0 {
		if scale, err = scenario.ScaleFor(opt, m.free()); err != nil {
			return opt, "", err
		}
	}
	var open []size
	for _, z := range sizes(scale, opt.Workload == scenario.TrainingDemo) {
		z = size{scale, cmp.Or(opt.Speedup, z.speedup), cmp.Or(opt.Coflows, z.jobs)}
		if !slices.Contains(open, z) {
			open = append(open, z)
		}
	}
	best, expected, err := choose(m, open, func(z size) (trial, error) { return try(ctx, opt, z) })
	if err != nil {
		return opt, "", err
	}
	opt.Scale, opt.Speedup, opt.Coflows = best.scale, best.speedup, best.jobs
	note = fmt.Sprintf("%v: so this demo has %s at scale %.3g and speedup %.2g; no mean CCT should be off by more than "+
		"%.0f %%", m, console.Count(best.jobs, "job"), best.scale, best.speedup, 100*expected)
	return opt, note, nil
}

// try runs all rows of a size on the simulator.
func try(ctx context.Context, opt scenario.Options, z size) (trial, error) {
	opt.On, opt.Record = scenario.OnFlowsim, false
	opt.Scale, opt.Speedup, opt.Coflows = z.scale, z.speedup, z.jobs
	p, err := scenario.Prepare(opt, z.scale)
	if err != nil {
		return trial{}, err
	}
	s, t := &runner{Prepared: p}, trial{size: z}
	for _, r := range s.Rows {
		o, err := s.simulate(ctx, r, nil)
		if err != nil {
			return trial{}, err
		}
		var h report.Health
		s.seen(&h, o)
		t.rows, t.took = append(t.rows, h), t.took+o.End+aroundRow
	}
	return t, nil
}
