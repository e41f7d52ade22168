package circuit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
)

// at is an instant of the day on which these tests play.
func at(hour int) time.Time { return time.Date(2026, 11, 29, hour, 0, 0, 0, time.UTC) }

func leaseFor(group, holder string, until int, ports ...southbound.Port) Lease {
	return Lease{Device: "ocs", Group: group, Holder: holder, Inputs: slices.Clone(ports),
		Outputs: slices.Clone(ports), Until: at(until)}
}

// TestDay: two testbeds that want a port, through a day: who is refused is told by whom and until when, who waited
// first comes first, and what has ended is free.
func TestDay(t *testing.T) {
	b := &LeaseTable{}
	step := func(hour int, err error, says string) {
		t.Helper()
		if says == "" && err != nil || says != "" && (err == nil || !strings.Contains(err.Error(), says)) {
			t.Errorf("at %d: %v, want %q", hour, err, says)
		}
	}
	step(8, b.Take(leaseFor("t0", "ann", 7, 0, 1), at(8)), "it would run out at 2026-11-29T07:00:00Z, which is past")
	step(8, b.Take(leaseFor("t0", "ann", 12, 0, 1, 2), at(8)), "")
	step(8, b.Take(leaseFor("t1", "bob", 18, 2, 3), at(8)),
		`input 2 is of group "t0", held by ann until 2026-11-29T12:00:00Z`)
	before, err := b.Wait(leaseFor("t1", "bob", 18, 2, 3), at(8))
	step(8, err, "")
	after, err := b.Wait(leaseFor("t2", "cy", 18, 2), at(9))
	step(9, err, "")
	if before != 0 || after != 1 {
		t.Errorf("%d wait before t1, and %d before t2", before, after)
	}
	step(9, b.Take(leaseFor("t0", "ann", 13, 0, 1, 2), at(9)), "") // what it has, nobody comes first for
	step(9, b.Take(leaseFor("t3", "dee", 13, 3), at(9)), `group "t1" of bob waits for input 3 and comes first`)
	step(9, b.Extend("ocs", "t0", "bob", at(14), at(9)), "held by ann")
	step(9, b.Extend("ocs", "t0", "ann", at(8), at(9)), "which is past")
	step(9, b.Extend("ocs", "t0", "ann", at(14), at(9)), "")
	step(9, b.HandOver("ocs", "t0", "bob", "bob", at(9)), "held by ann")
	step(9, b.HandOver("ocs", "t0", "ann", "", at(9)), "nobody is named")
	step(9, b.HandOver("ocs", "t0", "ann", "eve", at(9)), "")
	step(10, b.Drop("ocs", "t0", "eve", []southbound.Port{2}, at(10)), "")
	step(10, b.Take(leaseFor("t2", "cy", 18, 2), at(10)), `group "t1" of bob waits for input 2 and comes first`)
	step(10, b.Take(leaseFor("t1", "bob", 18, 2, 3), at(10)), "")
	step(14, b.Extend("ocs", "t0", "eve", at(20), at(14)), "it ran out at 2026-11-29T14:00:00Z")
	step(19, b.Take(leaseFor("t3", "dee", 20, 0, 1, 2, 3), at(19)), "") // also t2 waits no more
	b.Expire(at(20))
	if len(b.Leases)+len(b.Waiting) > 0 {
		t.Errorf("%+v", b)
	}
}

// TestNoPortTwice: whatever is asked of a table, no two leases have a port at the same time, and nobody overtakes.
func TestNoPortTwice(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 42))
		b := &LeaseTable{}
		for hour := range 20 {
			group := fmt.Sprint("t", r.IntN(4))
			l := leaseFor(group, "h", hour+r.IntN(4), southbound.Port(r.IntN(4)), southbound.Port(r.IntN(4)))
			slices.Sort(l.Inputs)
			slices.Sort(l.Outputs)
			switch r.IntN(5) {
			case 0:
				_, _ = b.Wait(l, at(hour)) // refused where it is over already
			case 1:
				_ = b.Release("ocs", group, "h") // there may be none
			case 2:
				b.Expire(at(hour))
			default:
				if err := b.Take(l, at(hour)); err != nil && !errors.Is(err, ErrLeased) && l.Until.After(at(hour)) {
					t.Fatal(seed, err)
				}
			}
			for i := range b.Leases {
				for j := range i {
					x, y := &b.Leases[i], &b.Leases[j]
					if port, same := x.overlaps(y); same && x.Until.After(at(hour)) && y.Until.After(at(hour)) {
						t.Fatalf("seed %d: %s is of %s and %s", seed, port, x.text(), y.text())
					}
				}
			}
		}
	}
}

// TestAuditLog: each change of a table of leases is a line of the log, with who did it; what changes nothing is none.
func TestAuditLog(t *testing.T) {
	file := filepath.Join(t.TempDir(), "leases.json")
	do := func(user string, hour int, f func(b *LeaseTable) error) {
		t.Helper()
		if err := ChangeLeases(file, user, at(hour), f); err != nil {
			t.Fatal(err)
		}
	}
	take := func(l Lease, hour int) func(b *LeaseTable) error {
		return func(b *LeaseTable) error { return b.Take(l, at(hour)) }
	}
	do("ann", 8, take(leaseFor("t0", "ann", 12, 0, 1), 8))
	do("ann", 8, take(leaseFor("t0", "ann", 12, 0, 1), 8))
	do("ann", 9, take(leaseFor("t0", "ann", 13, 0, 1, 2), 9))
	do("bob", 9, func(b *LeaseTable) error {
		_, err := b.Wait(leaseFor("t1", "bob", 20, 1), at(9))
		return err
	})
	do("ann", 9, func(b *LeaseTable) error { return b.HandOver("ocs", "t0", "ann", "eve", at(9)) })
	do("bob", 14, func(b *LeaseTable) error { b.Expire(at(14)); return b.Take(leaseFor("t1", "bob", 20, 1), at(14)) })
	do("bob", 15, func(b *LeaseTable) error { return b.Release("ocs", "t1", "bob") })
	if err := ChangeLeases(file, "cy", at(15), func(*LeaseTable) error { return ErrLeased }); !errors.Is(err, ErrLeased) {
		t.Error(err)
	}
	log, err := os.Open(AuditLog(file))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var got []string
	for s := bufio.NewScanner(log); s.Scan(); {
		var e AuditEvent
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d %s %s %s", e.At.Hour(), e.User, e.What, e.Group))
	}
	want := []string{"8 ann take t0", "9 ann extend t0", "9 ann change ports t0", "9 bob wait t1", "9 ann hand over t0",
		"14 bob expire t0", "14 bob take t1", "14 bob leave queue t1", "15 bob release t1"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
}

// TestPortsText: what is written is read again.
func TestPortsText(t *testing.T) {
	for _, text := range []string{"0", "0-3,8,10-11", "5,7,9"} {
		ports, err := ParsePorts(text)
		if got := PortsText(ports, ports); err != nil || got != text {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	if got := PortsText(ports(2), ports(1)); got != "in 0-1, out 0" {
		t.Error(got)
	}
}

// TestEndedLease: a lease that has ended is there as long as nobody takes a lease of its device, whichever ports.
func TestEndedLease(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	lease := func(group, device string, port southbound.Port, until time.Time) Lease {
		return Lease{Device: device, Group: group, Holder: "ann", Inputs: []southbound.Port{port},
			Outputs: []southbound.Port{port}, Until: until}
	}
	b := &LeaseTable{}
	if err := b.Take(lease("a", "ocs", 1, now.Add(time.Hour)), now); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Hour)
	if err := b.Take(lease("b", "other", 1, now.Add(time.Hour)), now); err != nil || b.Of("ocs", "a") == nil {
		t.Errorf("%v, %v beside a lease of another device", b.Of("ocs", "a"), err)
	}
	if err := b.Take(lease("b", "ocs", 2, now.Add(time.Hour)), now); err != nil || b.Of("ocs", "a") != nil {
		t.Errorf("%v, %v after another has taken a lease", b.Of("ocs", "a"), err)
	}
}
