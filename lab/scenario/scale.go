package scenario

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lightloom/pathmap"
	"lightloom/southbound/hint"
)

// LoadShare bounds the load of a fabric of packets: the rates of all ports sum to at most 1/LoadShare
// of the machine's measured capacity, so that queues and not cores limit flows.
const LoadShare = 4

// assumedCapacity is the assumed capacity of a machine without calibration: what two cores carry
// through three switches with the slowest of the dataplanes measured.
const assumedCapacity = 10 * pathmap.Gbps

// ScaleFor is the smallest of 1, 2, 5, 10, 20, … at which the ports of a fabric ask for no more than a run
// may of a share of this machine's capacity.
func ScaleFor(opt Options, share float64) (float64, error) {
	opt = withoutJobs(opt)
	opt.Speedup = 1
	probe, err := Prepare(opt, 1)
	if err != nil {
		return 0, err
	}
	capacity, _ := Capacity()
	return roundScale(float64(PortRates(probe)) * LoadShare / float64(capacity) / share), nil
}

// PacketScale resolves --scale for real packets: auto is the smallest of 1, 2, 5, 10, 20, … that fits.
// A scale that does not fit is refused, and the error names one that does.
func PacketScale(_ context.Context, opt Options) (float64, string, error) {
	probe, err := Prepare(withoutJobs(opt), 1)
	if err != nil {
		return 0, "", err
	}
	capacity, measured := Capacity()
	how := "assumed; measure it with lightloom doctor --calibrate"
	if measured {
		how = "as measured by lightloom doctor --calibrate"
	}
	need := float64(PortRates(probe)) * LoadShare / float64(capacity)
	fits := roundScale(need)
	switch {
	case opt.Scale == 0:
		note := ""
		if fits > 1 {
			note = fmt.Sprintf("scale %g: the ports of this fabric sum to %s, and a quarter of this machine's %s is what it "+
				"may ask (%s)",
				fits, PortRates(probe).About(), capacity.About(), how)
		}
		return fits, note, nil
	case opt.Scale < need:
		return 0, "", hint.New(fmt.Sprintf("scale %g: the fabric's ports sum to %s then, more than a quarter of this "+
			"machine's %s (%s)",
			opt.Scale, pathmap.BitsPerSecond(float64(PortRates(probe))/opt.Scale).About(), capacity.About(), how),
			"--scale "+strconv.FormatFloat(fits, 'g', -1, 64)+", or --scale auto")
	}
	return opt.Scale, "", nil
}

// withoutJobs returns opt with its fabric but without the trace, which is read once, later.
func withoutJobs(opt Options) Options {
	if opt.trains() {
		opt.Fabric = cmp.Or(opt.Fabric, trainingFabric)
	}
	opt.Trace, opt.Workload, opt.Coflows, opt.Policies = "", "", 1, []string{"random+ecmp"}
	opt.Parts.Migrate = 0 // the trial has one job, so none can move
	opt.Warmup, opt.Until, opt.Rules.Attributes, opt.Rules.Background = 0, 0, "", 0
	return opt
}

// roundScale returns the smallest of 1, 2, 5, 10, 20, … that is not below v.
func roundScale(v float64) float64 {
	for unit := 1.0; ; unit *= 10 {
		for _, step := range []float64{1, 2, 5} {
			if unit*step >= v {
				return unit * step
			}
		}
	}
}

// Capacity returns the capacity that doctor --calibrate stored for this machine and user, or the
// assumed one.
func Capacity() (pathmap.BitsPerSecond, bool) {
	b, err := os.ReadFile(CapacityFile())
	if err != nil {
		return assumedCapacity, false
	}
	v, err := pathmap.ParseRate(strings.TrimSpace(string(b)))
	if err != nil || v <= 0 {
		return assumedCapacity, false
	}
	return v - v%(10*pathmap.Mbps), true // no figure of it is surer than that
}

// KeepCapacity stores a measured capacity for later runs.
func KeepCapacity(v pathmap.BitsPerSecond) error {
	name := CapacityFile()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return fmt.Errorf("keep calibration: %w", err)
	}
	if err := os.WriteFile(name, []byte(v.String()+"\n"), 0o644); err != nil {
		return fmt.Errorf("keep calibration: %w", err)
	}
	return nil
}

// CapacityFile is where the measured capacity of this machine is kept.
func CapacityFile() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = os.TempDir()
	}
	return filepath.Join(dir, "lightloom", "capacity")
}
