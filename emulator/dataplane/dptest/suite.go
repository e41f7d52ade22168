package dptest

import (
	"errors"
	"testing"
	"time"

	"lightloom/southbound"
)

// Run is the conformance suite. make gives a fresh network of the given spec, to which it has done
// nothing; it must have at least four racks, two hosts a rack, two spines and an OCS.
func Run(t *testing.T, make func(t *testing.T) Network) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Network)
	}{
		{"every host pair and tag arrives", everyPair},
		{"tags choose their way", tagsChoose},
		{"an unmatched packet is dropped and counted", unmatched},
		{"one rule is put, replaced and dropped", oneRule},
		{"backup carries while the primary is dark", backup},
		{"a dark backup drops", darkBackup},
		{"whole tables swap under load without loss", swap},
		{"a circuit moves and its neighbours keep their light", moves},
		{"a circuit goes", circuitGoes},
		{"wrong changes are refused and change nothing", refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := make(t)
			if err := Program(n); err != nil {
				t.Fatal(err)
			}
			c.test(t, n)
		})
	}
}

func everyPair(t *testing.T, n Network) {
	hosts := southbound.HostID(n.Spec().Hosts())
	probes := 0
	for src := range hosts {
		for dst := range hosts {
			for tag := range southbound.Tag(southbound.Tags) {
				if src != dst {
					expect(t, n, src, dst, tag, 1)
					probes++
				}
			}
		}
	}
	t.Logf("%d probes arrived", probes)
}

func tagsChoose(t *testing.T, n Network) {
	f := n.Spec()
	spines := southbound.Port(f.HostsPerRack)
	dst := southbound.HostID(f.HostsPerRack) // rack 1, which rack 0 has its circuit to
	for _, c := range []struct {
		name string
		dst  southbound.HostID
		tag  southbound.Tag
		port southbound.Port
	}{
		{"path 0", dst, southbound.PathTag(0), spines},
		{"path 1", dst, southbound.PathTag(1), spines + 1},
		{"the default takes any", dst, southbound.TagDefault, spines},
		{"a tag without a rule takes any", dst, 6, spines},
		{"circuit", dst, southbound.TagCircuit, southbound.Port(f.OCSUplink[0])},
		{"circuit's tag to a rack without one takes any", 2 * dst, southbound.TagCircuit, spines},
		{"a host of the own rack", 1, southbound.TagCircuit, 1},
	} {
		t.Run(c.name, func(t *testing.T) { leavesBy(t, n, 0, c.dst, c.tag, c.port) })
	}
}

func unmatched(t *testing.T, n Network) {
	tor := n.Plane(n.Spec().ToRNode[0])
	dst := southbound.HostID(n.Spec().HostsPerRack)
	set(t, tor.SetRules(nil, nil, true))
	before := dropped(t, n, 0)
	expect(t, n, 0, dst, southbound.TagDefault, 0)
	if got := dropped(t, n, 0) - before; got != packets {
		t.Errorf("tor 0 counted %d dropped packets, want %d", got, packets)
	}
	expect(t, n, 0, 1, southbound.TagDefault, packets) // its own hosts are no rule
}

func oneRule(t *testing.T, n Network) {
	f := n.Spec()
	tor := n.Plane(f.ToRNode[0])
	spines := southbound.Port(f.HostsPerRack)
	dst := southbound.HostID(f.HostsPerRack)
	r := southbound.Rule{Match: match(1, 3), Primary: spines + 1, Backup: southbound.NoPort}
	set(t, tor.SetRules([]southbound.Rule{r}, nil, false))
	leavesBy(t, n, 0, dst, 3, spines+1)
	r.Primary = spines
	set(t, tor.SetRules([]southbound.Rule{r}, nil, false))
	leavesBy(t, n, 0, dst, 3, spines)
	any := southbound.Rule{Match: match(1, southbound.AnyTag), Primary: spines + 1, Backup: southbound.NoPort}
	set(t, tor.SetRules([]southbound.Rule{any}, []southbound.Match{r.Match, match(3, 5)}, false))
	leavesBy(t, n, 0, dst, 3, spines+1)
	leavesBy(t, n, 0, dst, southbound.PathTag(0), spines)
}

func backup(t *testing.T, n Network) {
	f := n.Spec()
	tor, uplink := n.Plane(f.ToRNode[0]), southbound.Port(f.OCSUplink[0])
	dst := southbound.HostID(f.HostsPerRack)
	for range 3 {
		set(t, tor.SetLight(uplink, false))
		leavesBy(t, n, 0, dst, southbound.TagCircuit, southbound.Port(f.HostsPerRack))
		set(t, tor.SetLight(uplink, true))
		leavesBy(t, n, 0, dst, southbound.TagCircuit, uplink)
	}
	flow, err := n.Load(0, dst, southbound.TagCircuit, func() error {
		return errors.Join(tor.SetLight(uplink, false), tor.SetLight(uplink, true))
	})
	whole(t, flow, err)
}

func darkBackup(t *testing.T, n Network) {
	f := n.Spec()
	tor, uplink, spine := n.Plane(f.ToRNode[0]), southbound.Port(f.OCSUplink[0]), southbound.Port(f.HostsPerRack)
	dst := southbound.HostID(f.HostsPerRack)
	set(t, tor.SetLight(spine, false))
	set(t, tor.SetLight(uplink, false))
	expect(t, n, 0, dst, southbound.TagCircuit, 0)
	leavesBy(t, n, 0, dst, southbound.TagDefault, spine+southbound.Port(f.Spec.Spines-1))
	// A table that comes meanwhile knows which ports are dark.
	set(t, tor.SetRules(nil, []southbound.Match{match(2, 1), match(2, 2)}, false))
	expect(t, n, 0, dst, southbound.TagCircuit, 0)
	set(t, tor.SetLight(spine, true))
	leavesBy(t, n, 0, dst, southbound.TagCircuit, spine)
	set(t, tor.SetLight(uplink, true))
	leavesBy(t, n, 0, dst, southbound.TagCircuit, uplink)
}

func swap(t *testing.T, n Network) {
	f := n.Spec()
	tor := n.Plane(f.ToRNode[0])
	one := ToRRules(n, 0)
	two := ToRRules(n, 0)
	for i := range two {
		if two[i].Tag == southbound.AnyTag {
			two[i].Primary, two[i].Backup = two[i].Backup, two[i].Primary
		}
	}
	flow, err := n.Load(0, southbound.HostID(f.HostsPerRack), southbound.TagDefault, func() error {
		return errors.Join(tor.SetRules(two, nil, true), tor.SetRules(one, nil, true))
	})
	whole(t, flow, err)
}

const dark = 5 * time.Millisecond

func moves(t *testing.T, n Network) {
	f := n.Spec()
	ocs := n.Plane(f.OCSNode)
	// 0→1, 1→2 become 0→2, 1→1; 2→3 stays and loses nothing.
	two, three := southbound.HostID(2*f.HostsPerRack), southbound.HostID(3*f.HostsPerRack)
	circuit := southbound.Rule{Match: match(2, southbound.TagCircuit),
		Primary: southbound.Port(f.OCSUplink[0]),
		Backup:  southbound.NoPort}
	set(t, n.Plane(f.ToRNode[0]).SetRules([]southbound.Rule{circuit}, nil, false))
	there := []southbound.CrossConnect{{In: 0, Out: 2}, {In: 1, Out: 1}}
	flow, err := n.Load(two, three, southbound.TagCircuit, func() error {
		back := []southbound.CrossConnect{{In: 0, Out: 1}, {In: 1, Out: 2}}
		return errors.Join(ocs.Move([]southbound.Port{0, 1}, there, time.Millisecond),
			ocs.Move([]southbound.Port{0, 1}, back, 0))
	})
	whole(t, flow, err)
	if flow.Reordered > 0 {
		t.Errorf("%d packets of a circuit that was not moved changed places", flow.Reordered)
	}
	set(t, ocs.Move([]southbound.Port{0, 1}, there, time.Hour))
	before := dropped(t, n, f.OCSNode)
	expect(t, n, 0, two, southbound.TagCircuit, 0) // dark
	if got := dropped(t, n, f.OCSNode) - before; got != packets {
		t.Errorf("the ocs counted %d dropped packets, want %d", got, packets)
	}
	set(t, ocs.Move([]southbound.Port{0, 1}, there, dark))
	n.Pass(2 * dark)
	leavesBy(t, n, 0, two, southbound.TagCircuit, southbound.Port(f.OCSUplink[0]))
}

func circuitGoes(t *testing.T, n Network) {
	f := n.Spec()
	ocs := n.Plane(f.OCSNode)
	dst := southbound.HostID(f.HostsPerRack)
	expect(t, n, 0, dst, southbound.TagCircuit, packets)
	set(t, ocs.Move([]southbound.Port{0}, nil, dark))
	expect(t, n, 0, dst, southbound.TagCircuit, 0)
	n.Pass(2 * dark)
	expect(t, n, 0, dst, southbound.TagCircuit, 0)
	// A circuit that is removed while dark never lights.
	set(t, ocs.Move(nil, []southbound.CrossConnect{{In: 0, Out: 1}}, dark))
	set(t, ocs.Move([]southbound.Port{0}, nil, dark))
	n.Pass(2 * dark)
	expect(t, n, 0, dst, southbound.TagCircuit, 0)
	set(t, ocs.Move(nil, []southbound.CrossConnect{{In: 0, Out: 1}}, 0))
	expect(t, n, 0, dst, southbound.TagCircuit, packets)
}

func refused(t *testing.T, n Network) {
	f := n.Spec()
	tor, ocs := n.Plane(f.ToRNode[0]), n.Plane(f.OCSNode)
	good := southbound.Rule{Match: match(1, southbound.AnyTag), Primary: southbound.Port(f.OCSUplink[0]),
		Backup: southbound.NoPort}
	bad := good
	bad.Match = match(2, southbound.AnyTag)
	bad.Primary = 99
	for _, c := range []struct {
		name string
		err  error
	}{
		{"a rule to a port that is not there", tor.SetRules([]southbound.Rule{good, bad}, nil, false)},
		{"light of a port that is not there", tor.SetLight(99, false)},
		{"a circuit of an input that is not there",
			ocs.Move(nil, []southbound.CrossConnect{{In: 99, Out: 1}}, 0)},
		{"a circuit to an output that is not there",
			ocs.Move([]southbound.Port{0}, []southbound.CrossConnect{{In: 0, Out: -1}}, 0)},
	} {
		if c.err == nil {
			t.Errorf("%s was accepted", c.name)
		}
	}
	leavesBy(t, n, 0, southbound.HostID(f.HostsPerRack), southbound.TagDefault,
		southbound.Port(f.HostsPerRack))
	leavesBy(t, n, 0, southbound.HostID(f.HostsPerRack), southbound.TagCircuit,
		southbound.Port(f.OCSUplink[0]))
}
