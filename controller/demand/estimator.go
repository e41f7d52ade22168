package demand

import (
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Estimator reads the demand once a period, and holds the estimate. Its contents are volatile: a new
// one has the same after two readings.
type Estimator struct {
	opt     Options
	due     time.Duration // of the next reading
	last    *Sample
	traffic controller.Traffic
	fresh   time.Duration // when the estimate was last renewed
}

// NewEstimator returns an estimator that knows nothing yet.
func NewEstimator(opt Options) *Estimator { return &Estimator{opt: opt.WithDefaults()} }

// Traffic returns the estimate for a view: nil for the oracle. Borrowed until the next reading.
func (e *Estimator) Traffic(racks int) *controller.Traffic {
	if e.opt.Oracle() {
		return nil
	}
	if e.traffic.Bytes == nil {
		e.traffic.Bytes = New(racks)
	}
	return &e.traffic
}

// Due returns when to read next; false for the oracle, which reads nothing.
func (e *Estimator) Due() (time.Duration, bool) { return e.due, !e.opt.Oracle() }

// Read makes a new estimate at v.Now: from the coflows of the view, or from counters, which are called
// only if needed. It reports whether there is, or was, any demand. Readings are at multiples of the
// period, so that they do not depend on what happens between.
func (e *Estimator) Read(v *controller.View, counters func() (Sample, error)) (any bool, err error) {
	e.due = (v.Now/e.opt.Period + 1) * e.opt.Period
	before := Matrix(e.Traffic(v.Fabric.Racks).Bytes).Sum()
	if e.opt.Source == FromBacklog {
		buffer := e.opt.Buffer
		if buffer == 0 {
			buffer = max(SocketBuffer, v.ElephantThreshold)
		}
		e.set(v.Now, Backlog(v, buffer), 0)
	} else {
		err = e.count(v, counters)
	}
	return before > 0 || Matrix(e.traffic.Bytes).Sum() > 0, err
}

func (e *Estimator) set(now time.Duration, m Matrix, ahead time.Duration) {
	e.traffic = controller.Traffic{At: now, Next: e.due, Ahead: ahead, Bytes: m}
	e.fresh = now
}

// stale is for how many periods an estimate stands whose counters cannot be read.
const stale = 4

// count compares counters with those of the reading before.
func (e *Estimator) count(v *controller.View, counters func() (Sample, error)) error {
	now, err := counters()
	if err == nil && e.last != nil && now.At > e.last.At {
		var m Matrix
		if m, err = Counters(*e.last, now, e.options(v.Fabric)); err == nil {
			e.set(v.Now, payload(v.Fabric, m), aheadPeriods*e.opt.Period)
		}
	}
	switch {
	case err != nil:
	case e.last == nil || now.At > e.last.At:
		e.last = &now
	}
	if v.Now-e.fresh > stale*e.opt.Period {
		e.traffic = controller.Traffic{At: v.Now, Next: e.due, Bytes: New(v.Fabric.Racks)} // the last sample is too old
	}
	return err
}

func (e *Estimator) options(f *topo.Fabric) CounterOptions {
	return CounterOptions{Racks: f.Racks, HostsPerRack: f.HostsPerRack, HostRack: f.HostRack, NIC: f.Spec.NIC,
		Least: e.opt.Least, Ahead: aheadPeriods * e.opt.Period}
}

// payload turns layer-2 bytes into those that they carry. On a crossbar rates are counted in payload.
func payload(f *topo.Fabric, m Matrix) Matrix {
	if f.Spec.Kind == topo.Crossbar {
		return m
	}
	for _, row := range m {
		for j, b := range row {
			row[j] = pathmap.Bytes(float64(b) * controller.FramePayload / controller.FrameBytes)
		}
	}
	return m
}
