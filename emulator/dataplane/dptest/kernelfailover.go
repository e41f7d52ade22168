package dptest

import (
	"errors"
	"os"
	"testing"
	"time"

	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
)

// KernelFailover measures how long packets are missing after a cable is cut whose port has a backup.
// The short form only requires that they come again; LIGHTLOOM_MEASURE=failover cuts 300 times and
// requires 99 of 100 within a millisecond if the cut is reported to the switch.
func KernelFailover(t *testing.T, dataplane string, needs ...string) {
	netnstest.Need(t, needs...)
	netnstest.Lock(t)
	full := os.Getenv("LIGHTLOOM_MEASURE") == "failover"
	cuts := 10
	if full {
		cuts = 300
	}
	net := Real(t, "leafspine:racks=2,hosts=1,spines=2,eps=10Gbps,nic=10Gbps",
		netns.Options{Dataplane: dataplane})
	if err := Program(net); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		notice bool
	}{{"told", false}, {"noticed by the kernel", true}} {
		t.Run(c.name, func(t *testing.T) {
			f, err := CutCables(net.fabric, cuts, c.notice)
			if errors.Is(err, ErrBusy) && !full {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Log(f)
			if got := Share(f.Since, .99); full && !c.notice && got > time.Millisecond {
				t.Errorf("99 of 100 cuts are over after %v, want a millisecond at most", got)
			}
		})
	}
}
