package dptest

import (
	"errors"
	"os"
	"testing"
	"time"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

// FullEnv is an environment variable that, set to anything, makes KernelDarkness measure at least 200
// moves of each dark time and judge them by the bounds of a quiet machine: a serial step of its own.
const FullEnv = "LIGHTLOOM_DARKNESS"

// Bound is what the excess of a dataplane's dark times must keep to on a quiet machine, one probe gap apart.
type Bound struct {
	Share    float64 // of the moves
	Min, Max time.Duration
}

// KernelDarkness measures a dataplane by packets. The short form, for machines that do other things
// meanwhile, wants that no packet is early and that circuits light at all in time; the full form wants
// bound. It also asks for dark times of up to a second, and moves 30 other circuits in the same calls:
// there no packet may be early.
func KernelDarkness(t *testing.T, dataplane string, asked []time.Duration, bound Bound, needs ...string) {
	netnstest.Need(t, needs...)
	netnstest.Lock(t)
	full := os.Getenv(FullEnv) != ""
	t.Run("alone", func(t *testing.T) {
		net := Real(t, "hybrid:racks=3,hosts=1,spines=1,ocs=10Gbps", netns.Options{Dataplane: dataplane})
		if !full {
			for _, a := range asked {
				darkness(t, net, a, 20, nil)
			}
			return
		}
		for _, a := range asked {
			darkness(t, net, a, 200, &bound)
		}
		darkness(t, net, 100*time.Millisecond, 20, &bound)
		darkness(t, net, time.Second, 5, &bound)
	})
	if !full {
		return
	}
	t.Run("beside others", func(t *testing.T) {
		net := Real(t, "hybrid:racks=33,hosts=1,spines=1,ocs=10Gbps", netns.Options{Dataplane: dataplane})
		for _, a := range asked {
			darkness(t, net, a, 100, nil)
		}
	})
}

// darkness measures moves and holds them to a bound, or to none.
func darkness(t *testing.T, net *Packets, asked time.Duration, moves int, bound *Bound) {
	t.Helper()
	d, err := Darkness(net.fabric, asked, moves)
	if errors.Is(err, ErrBusy) && os.Getenv(FullEnv) == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Log(d)
	if d.Early > 0 {
		t.Errorf("%v: %d packets passed before they should have", asked, d.Early)
	}
	if bound == nil {
		return
	}
	if got := d.P(bound.Share); got < bound.Min || got > bound.Max+d.Probe {
		t.Errorf("%v: excess is %v at %.0f %%, want %v to %v beyond one probe gap of %v", asked, got,
			100*bound.Share,
			bound.Min, bound.Max, d.Probe)
	}
	if d.Probe > 10*time.Microsecond {
		t.Errorf("%v: a probe every %v is less than 100,000 a second", asked, d.Probe)
	}
}
