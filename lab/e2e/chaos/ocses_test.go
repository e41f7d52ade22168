package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// The ways in which one optical switch of several is ill.
const (
	dying       = iota // it loses its power
	lying              // it accepts changes and reports what is not so
	partitioned        // nobody reaches it, and it goes on with what it has
	illnesses
)

// TestOneOfFourOCSes is TestLeaderStopped with four OCSes under the racks, with raft itself: at every point of a
// leader's work on one of them, and again and again meanwhile, one of the four dies, lies or is partitioned. No port
// is lit twice, all light is of a circuit of the log, and every byte arrives once.
func TestOneOfFourOCSes(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	all := uint64(points) * illnesses
	for seed := range all * tries.Of[uint64](1, 12) {
		at, ill := point(seed%uint64(points)), int(seed/uint64(points)%illnesses)
		if tries.Of(0, 1) == 0 && seed%7 != 2 { // three points, each with another illness
			continue
		}
		name := [...]string{"dying", "lying", "partitioned"}[ill]
		t.Run(fmt.Sprintf("seed_%d/%v/%s", seed, at, name), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stopLeader(t, chaosFabric+",ocses=4", seed, at, "ocs", func(ctx context.Context, c *chaosCluster) {
					c.sicken(ctx, ill, rand.New(rand.NewPCG(seed, 81)), 6)
				})
			})
		})
	}
}

// sicken makes one OCS after another ill, that many times. In the end all are well.
func (c *chaosCluster) sicken(ctx context.Context, ill int, r *rand.Rand, times int) {
	breaks := newBreaker(c.lab, c)
	for range times {
		i := r.IntN(c.fabric.OCSes())
		id := c.fabric.OCSNode + southbound.DeviceID(i)
		long := time.Duration(100+r.IntN(900)) * time.Millisecond
		if !pauseFor(ctx, time.Duration(r.IntN(400))*time.Millisecond) {
			return
		}
		switch ill {
		case dying:
			f := fault.Fault{Kind: fault.Switch, Name: c.fabric.Topology.Node(id).Name}
			breaks.strike(f, false)
			pauseFor(ctx, long)
			breaks.strike(f, true)
		case lying:
			c.lab.mu.Lock()
			c.lab.pass()
			c.lab.sim.Do(id, func(_ time.Duration, dev *device.Device) {
				dev.Fault(device.Fault{Kind: device.Lie, Port: southbound.NoPort, Times: 1 + r.IntN(2)})
			})
			c.lab.pass()
			c.lab.mu.Unlock()
		case partitioned:
			c.lab.cutOff(id, true)
			pauseFor(ctx, long)
			c.lab.cutOff(id, false)
		}
	}
}

// cutOff cuts a switch off from all replicas, or joins it again.
func (l *lab) cutOff(id southbound.DeviceID, cut bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut[id] = cut
	for _, end := range l.streams[id] {
		end()
	}
	l.streams[id] = nil
}

// stream notes a stream of a switch, to be ended once that is cut off; false where it is.
func (l *lab) stream(id southbound.DeviceID, end context.CancelFunc) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.cut[id] {
		l.streams[id] = append(l.streams[id], end)
	}
	return !l.cut[id]
}

func (l *lab) isCut(id southbound.DeviceID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut[id]
}
