package policytest

import (
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// find returns the first random view that has what is asked for.
func find(t *testing.T, want func(*controller.View) bool) *controller.View {
	t.Helper()
	for seed := range uint64(500) {
		if v := View(seed); want(v) {
			return v
		}
	}
	t.Fatal("no random view has it")
	return nil
}

// TestCheckSees breaks each law once.
func TestCheckSees(t *testing.T) {
	tasks := find(t, func(v *controller.View) bool { return len(v.Waiting) > 0 && v.Waiting[0].Tasks() > 0 })
	unrouted := find(t, func(v *controller.View) bool { return len(v.Coflows) > 0 && !v.Coflows[0].Routed })
	lit := find(t, func(v *controller.View) bool {
		return len(v.Reserved) > 0 && v.Reserved[0].NotBefore <= v.Now && v.Fabric.Spec.Ports == v.Fabric.Racks
	})
	sending := find(t, func(v *controller.View) bool {
		return len(v.Coflows) > 0 && v.Coflows[0].Started && v.Coflows[0].Routed && !v.Coflows[0].Ended[0] &&
			v.HostRack(v.Coflows[0].Src[0]) == v.HostRack(v.Coflows[0].Dst[0]) && len(v.Reserved) == 0
	})
	r := controller.CircuitReservation{NotBefore: lit.Now, NotAfter: lit.Now + time.Hour,
		In:  lit.Reserved[0].In,
		Out: lit.Reserved[0].Out}
	nic := sending.Fabric.Topology.Link(sending.Fabric.Topology.Out(sending.Fabric.HostNode[0])[0]).Capacity
	c := &sending.Coflows[0]
	rate := func(bps pathmap.BitsPerSecond) *southbound.Rates {
		return &southbound.Rates{Pairs: []southbound.PairRate{{Src: c.Src[0], Dst: c.Dst[0],
			Tag: c.Tag[0], Rate: bps}}}
	}
	for _, tc := range []struct {
		name string
		v    *controller.View
		p    controller.Plan
		want string
	}{
		{"wake in the past", tasks, controller.Plan{Wake: tasks.Now}, "wake"},
		{"task without host", tasks, controller.Plan{Place: []controller.Placement{{Job: tasks.Waiting[0].ID}}}, "0 hosts"},
		{"job that does not wait", tasks, controller.Plan{Place: []controller.Placement{{Job: 99}}},
			"does not wait"},
		{"no such host", tasks, controller.Plan{Place: []controller.Placement{{Job: tasks.Waiting[0].ID,
			Hosts: append(make([]southbound.HostID, tasks.Waiting[0].Tasks()-1), 99)}}}, "no host 99"},
		{"unrouted", unrouted, controller.Plan{}, "0 tags"},
		{"port reserved twice", lit, controller.Plan{Reserve: []controller.CircuitReservation{r}},
			"holds a port"},
		{"unsorted", lit, controller.Plan{Reserve: []controller.CircuitReservation{{In: 1}, {In: 0}}},
			"not sorted"},
		{"to itself", lit, controller.Plan{Reserve: []controller.CircuitReservation{{NotBefore: r.NotBefore,
			NotAfter: r.NotAfter}}},
			"no such circuit"},
		{"link above capacity", sending, controller.Plan{Share: rate(nic + 1)}, "is given"},
		{"fair and rates", sending, controller.Plan{Share: &southbound.Rates{Fair: true,
			Pairs: rate(1).Pairs}}, "rates too"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.p.Wake == 0 {
				tc.p.Wake = southbound.Never
			}
			if err := Check(tc.v, &tc.p); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Check says %v, want %q", err, tc.want)
			}
		})
	}
	if err := checkShare(sending, &controller.Plan{Share: rate(nic / 100)}); err != nil {
		t.Errorf("a rate below capacity: %v", err)
	}
}

// TestViewsAreRich counts what the random views hold, so that the suite tries what it is meant to.
func TestViewsAreRich(t *testing.T) {
	const n = 200
	count := map[string]int{}
	for seed := range uint64(n) {
		v := View(seed)
		if Hash(v) != Hash(View(seed)) {
			t.Fatalf("seed %d: two views differ", seed)
		}
		for name, has := range map[string]bool{
			"waiting": len(v.Waiting) > 0, "coflows": len(v.Coflows) > 0, "reserved": len(v.Reserved) > 0,
			"no OCS": !v.Fabric.HasOCS(), "down": v.Down != nil,
			"re-cabled": len(v.Fabric.Topology.Out(0)) != v.Fabric.HostsOf(0)+v.Fabric.Spec.Spines+min(1,
				v.Fabric.OCSPorts()),
		} {
			if has {
				count[name]++
			}
		}
	}
	for _, name := range []string{"waiting", "coflows", "reserved", "no OCS", "down", "re-cabled"} {
		if count[name] < n/10 {
			t.Errorf("%d of %d views have: %s", count[name], n, name)
		}
	}
}
