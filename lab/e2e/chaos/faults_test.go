package chaos

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"lightloom/emulator/fault"
	"lightloom/pathmap/tries"
)

// TestLeaderLostAmongFaults is TestLeaderLost while links, ports and switches fail and recover, with a
// link down whenever a leader is lost: every byte still arrives once. In a second row hosts fail as
// well: transfers to a failed host begin again, and the ledger still has every byte once.
func TestLeaderLostAmongFaults(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	policies := []string{"random+ecmp+sunflow", "crosslayer+sunflow", "random+ecmp+maxmin", "crosslayer"}
	seeds := tries.Of[uint64](4, 12)
	for seed := range seeds {
		name := policies[seed%uint64(len(policies))]
		kinds := []fault.Kind{fault.Link, fault.Port, fault.Switch}
		word := "network"
		if seed%3 == 2 {
			kinds, word = append(kinds, fault.Host, fault.Host), "hosts too"
		}
		t.Run(fmt.Sprintf("seed_%d/%s/%s", seed, name, word), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { loseLeadersAmong(t, seed, name, seed%4 == 1, kinds) })
		})
	}
}

// breaker makes parts of a lab fail.
type breaker struct {
	lab    *lab
	names  *fault.Names
	damage *fault.Damage
}

func newBreaker(l *lab, c *chaosCluster) *breaker {
	n := fault.NewNames(c.fabric, len(c.peers))
	return &breaker{lab: l, names: n, damage: fault.NewDamage(n)}
}

func (b *breaker) strike(f fault.Fault, heal bool) {
	b.lab.mu.Lock()
	defer b.lab.mu.Unlock()
	b.lab.pass()
	b.lab.err = errors.Join(b.lab.err, strike(b.lab.sim, b.damage, fault.Event{Fault: f, Heal: heal}))
	b.lab.pass()
	select {
	case b.lab.poke <- struct{}{}:
	default:
	}
}

// run makes one part after another fail and recover. In the end all are repaired.
func (b *breaker) run(ctx context.Context, r *rand.Rand, kinds []fault.Kind, times int) {
	for range times {
		kind := kinds[r.IntN(len(kinds))]
		all := b.names.Known(kind)
		f := fault.Fault{Kind: kind, Name: all[r.IntN(len(all))]}
		if !pauseFor(ctx, time.Duration(r.IntN(400))*time.Millisecond) {
			return
		}
		b.strike(f, false)
		pauseFor(ctx, time.Duration(1+r.IntN(900))*time.Millisecond)
		b.strike(f, true)
	}
}

// downLink is a cable between a ToR and a spine.
func (b *breaker) downLink(r *rand.Rand) fault.Fault {
	var all []string
	for _, name := range b.names.Known(fault.Link) {
		var rack, spine int
		if n, _ := fmt.Sscanf(name, "tor%d-spine%d", &rack, &spine); n == 2 {
			all = append(all, name)
		}
	}
	return fault.Fault{Kind: fault.Link, Name: all[r.IntN(len(all))]}
}

// hostsLost reports whether hosts are among the failing parts; then hosts can have received more than
// the ledger holds.
func hostsLost(kinds []fault.Kind) bool {
	for _, k := range kinds {
		if k == fault.Host {
			return true
		}
	}
	return false
}
