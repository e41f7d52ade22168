package fault

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

func hybrid(t testing.TB) *Names {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 4, Hosts: 2, Spines: 2})
	if err != nil {
		t.Fatal(err)
	}
	return NewNames(f, 3)
}

func TestRead(t *testing.T) {
	const text = "# comment\n\n3s fail host h1-0\r\n2 fail link spine1-tor0 # back\n\t2s  fail port tor3:2\n5s heal " +
		"host h1-0"
	got, err := Read("x", strings.NewReader(text), hybrid(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{{At: 2 * time.Second, Fault: Fault{Link, "spine1-tor0"}},
		{At: 2 * time.Second, Fault: Fault{Port, "tor3:2"}},
		{At: 3 * time.Second, Fault: Fault{Host, "h1-0"}}, {At: 5 * time.Second,
			Fault: Fault{Host, "h1-0"}, Heal: true}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v\nwant %v", got, want)
	}
}

func TestReadRefuses(t *testing.T) {
	names := hybrid(t)
	for _, tc := range []struct{ text, want string }{
		{"2s fail link", `f:1:13: 3 words`},
		{"2s fail link tor0-spine1 now", `f:1:26: "now" is one word too many`},
		{"\nsoon fail link a-b", `f:2:1: "soon" is no instant`},
		{"-1s fail link a-b", `f:1:1: "-1s" is not within`},
		{"1s break link a-b", `f:1:4: "break" is neither fail nor heal`},
		{"1s fail fiber a-b", `f:1:9: "fiber" cannot fail`},
		{"1s fail link tor0-spine9", `f:1:14: there is no link "tor0-spine9"; near it: tor0-spine0, tor0-spine1`},
		{"1s fail host h1-2", `f:1:14: there is no host "h1-2"; near it: h1-0`},
		{"1s fail switch spine7", `there is no switch "spine7"; near it: spine0, spine1`},
		{"1s fail switch h0-0", `there is no switch "h0-0"`},
		{"1s fail port tor0:99", `there is no port "tor0:99"; near it: tor0:`},
		{"1s fail port tor0", `there is no port "tor0"`},
		{"1s fail fibre pull:4", `f:1:15: there is no fibre "pull:4"; near it: pull:0, pull:1, pull:2, pull:3`},
		{"1s fail fibre swap:1:1", `there is no fibre "swap:1:1"; near it: swap:0:1`},
		{"1s fail fibre swap:1", `there is no fibre "swap:1"`},
		{"1s fail fibre swap:0:1:2", `there is no fibre "swap:0:1:2"`},
		{"1s fail fibre pull:1:up", `there is no fibre "pull:1:up"`},
		{"1s fail fibre in", `there is no fibre "in"`},
		{"1s fail fibre :", `there is no fibre ":"`},
		{"1s fail fibre swap:0:2\n2s fail fibre swap:2:0:both", `f:2:15: fibre swap:2:0:both has failed already`},
		{"1s heal fibre pull:0:in", `f:1:15: fibre pull:0:in has not failed`},
		{"1s fail controller controller3", `there is no controller "controller3"; near it: controller0`},
		{"1s fail host h0-0\n2s fail host h0-0", `f:2:14: host h0-0 has failed already`},
		{"1s fail link tor0-spine1\n2s fail link spine1-tor0", `f:2:14: link spine1-tor0 has failed already`},
		{"1s heal host h0-0", `f:1:14: host h0-0 has not failed`},
		{"1s fail host \xff", `f:1:1: the line is not UTF-8`},
		{strings.Repeat("x", 2000), `f:1:1024: a line of more than 1024 bytes`},
	} {
		_, err := Read("f", strings.NewReader(tc.text), names)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %s", tc.text, err, tc.want)
		}
		var at *Error
		if err != nil && !errors.As(err, &at) {
			t.Errorf("%q: %v tells no place", tc.text, err)
		}
	}
}

// TestParallelCables: each of several cables between two nodes has a name of its own.
func TestParallelCables(t *testing.T) {
	b := pathmap.NewBuilder()
	x := b.Add(pathmap.Node{Name: "a", Role: pathmap.ToR})
	y := b.Add(pathmap.Node{Name: "b", Role: pathmap.ToR, Rack: 1})
	for p := range int32(3) {
		b.Cable(x, p, y, p, pathmap.Gbps, pathmap.Gbps)
	}
	top, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	n := NewNames(&topo.Fabric{Topology: top, Racks: 2, ToRNode: []pathmap.NodeID{x, y}}, 1)
	if got := n.Known(Link); !slices.Equal(got, []string{"a-b", "a-b~1", "a-b~2"}) {
		t.Fatalf("cables are called %v", got)
	}
	d := NewDamage(n)
	c, _, err := d.Inject(Event{Fault: Fault{Link, "b-a~1"}})
	if err != nil || len(c) != 1 || c[0].Cable != 2 {
		t.Errorf("b-a~1: %v, %v", c, err)
	}
}

// TestDamageReference: over thousands of random sequences a cable is whole exactly while nothing that
// it needs has failed.
func TestDamageReference(t *testing.T) {
	names := hybrid(t)
	top := names.fabric.Topology
	var all []Fault
	for k := Link; k <= Controller; k++ {
		for _, n := range names.Known(k) {
			all = append(all, Fault{k, n})
		}
	}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := NewDamage(names)
		failed, dark, off := map[Fault]bool{}, map[pathmap.LinkID]bool{}, map[pathmap.NodeID]bool{}
		for range 60 {
			f := all[rng.IntN(len(all))]
			heal := rng.IntN(2) == 0
			changes, changed, err := d.Inject(Event{Fault: f, Heal: heal})
			if err != nil || changed != (failed[f] == heal) {
				t.Fatalf("seed %d: %v heal %v: changed %v, %v", seed, f, heal, changed, err)
			}
			failed[f] = !heal
			for _, c := range changes {
				switch c.Kind {
				case Link:
					if dark[c.Cable] == !c.Up {
						t.Fatalf("seed %d: cable %d told twice", seed, c.Cable)
					}
					dark[c.Cable] = !c.Up
				case Switch:
					off[c.Device] = !c.Up
				}
			}
			for l := pathmap.LinkID(0); int(l) < len(top.Links()); l += 2 {
				if d.Cut(l) != dark[l] || d.Cut(l+1) != dark[l] {
					t.Fatalf("seed %d: cable %d is dark: %v, and is said to be cut: %v", seed, l, dark[l], d.Cut(l))
				}
				link := top.Link(l)
				a, b := top.Node(link.From).Name, top.Node(link.To).Name
				want := failed[Fault{Link, names.Cable(l)}] || failed[Fault{Switch, a}] ||
					failed[Fault{Switch, b}] ||
					failed[Fault{Port, fmt.Sprintf("%s:%d", a, link.FromPort)}] ||
					failed[Fault{Port, fmt.Sprintf("%s:%d", b, link.ToPort)}]
				if dark[l] != want {
					t.Fatalf("seed %d: cable %s dark %v, want %v: %v", seed, names.Cable(l), dark[l], want, d.Failed())
				}
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("2s fail link tor0-spine1\n3s heal link tor0-spine1")
	f.Add("2 fail host h0-0 # x\r\n")
	f.Add("1h fail controller controller0")
	f.Add("1s fail fibre swap:0:2:in\n2s fail fibre pull:3")
	names := hybrid(f)
	f.Fuzz(func(t *testing.T, text string) {
		events, err := Read("f", strings.NewReader(text), nil)
		if err != nil {
			return
		}
		var b strings.Builder
		for _, e := range events {
			fmt.Fprintln(&b, e)
		}
		again, err := Read("f", strings.NewReader(b.String()), nil)
		if err != nil || !slices.Equal(events, again) {
			t.Fatalf("%v, read again: %v, %v", events, again, err)
		}
		_, _ = Read("f", strings.NewReader(text), names)
	})
}
