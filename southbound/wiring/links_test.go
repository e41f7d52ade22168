package wiring

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lightloom/southbound"
	"lightloom/southbound/hint"
)

const lab = `testbed: t0
switch: ocs
first-port: 1
ports:
  leaf0: {Ethernet0: 1, Ethernet8: 2|3}
  leaf1: {Ethernet0: 4|5}
  tester: {1/1: 6A, 1/2: 7}
links:
  - {from: leaf0 Ethernet0, to: tester 1/1}
  - {from: leaf0 Ethernet8, to: leaf1 Ethernet0, one-way: true}
`

func cross(pairs ...southbound.Port) []southbound.CrossConnect {
	var out []southbound.CrossConnect
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, southbound.CrossConnect{In: pairs[i], Out: pairs[i+1]})
	}
	return out
}

const (
	switches = "StartDevice,StartPort,EndDevice,EndPort,BandWidth\nleaf0,Ethernet0,ocs,1,100000\n" +
		"leaf0,Ethernet0,other,1,100000\nleaf0,Ethernet8,ocs,2|3,100000\nleaf1,Ethernet0,ocs,4|5,100000\n"
	testers = "# traffic generators\nstartport,StartDevice,EndPort,EndDevice\n1/1,tester,6A,ocs\n1/2,tester,7,ocs\n"
	links   = "StartDevice,StartPort,EndDevice,EndPort,Direction\nleaf0,Ethernet0,tester,1/1,both\n" +
		"leaf0,Ethernet8,leaf1,Ethernet0,one\n"
)

func tables(switches, testers, links string) Tables {
	return Tables{Testbed: "t0", Switch: "ocs", FirstPort: 1, Ports: []Table{{"switches.csv", []byte(switches)},
		{"testers.csv", []byte(testers)}}, Links: Table{"links.csv", []byte(links)}}
}

// TestRead: one file and three tables say the same, and what it is.
func TestRead(t *testing.T) {
	a, err := ParseFile("t0.yaml", []byte(lab))
	if err != nil {
		t.Fatal(err)
	}
	b, err := ParseTables(tables(switches, testers, links))
	if err != nil {
		t.Fatal(err)
	}
	want := cross(0, 5, 1, 3, 2, 4, 5, 0)
	for _, w := range []*Wiring{a, b} {
		if got := w.Circuits(); !slices.Equal(got, want) || w.Testbed != "t0" || w.Switch != "ocs" {
			t.Errorf("%s at %s has %v, want %v", w.Testbed, w.Switch, got, want)
		}
		if got := fmt.Sprint(w.Links, w.Name(6), w.Name(9)); got !=
			"[leaf0 Ethernet0 ↔ tester 1/1 leaf0 Ethernet8 → leaf1 Ethernet0]6 (tester 1/2)9" {
			t.Error(got)
		}
		if l := w.Lease("ocs", "ann"); fmt.Sprint(l.Inputs, l.Outputs) != "[0 1 2 3 4 5] [0 1 2 3 4 5]" {
			t.Errorf("%+v", l)
		}
	}
}

// TestMistakes: what is wrong with a file is said with its place, and what to write instead.
func TestMistakes(t *testing.T) {
	yaml := func(from, to string) func() error {
		return func() error {
			_, err := ParseFile("t0.yaml", []byte(strings.Replace(lab, from, to, 1)))
			return err
		}
	}
	table := func(change func(*Tables)) func() error {
		return func() error {
			x := tables(switches, testers, links)
			change(&x)
			_, err := ParseTables(x)
			return err
		}
	}
	for name, tt := range map[string]struct {
		run        func() error
		says, hint string
	}{
		"a port of a device twice": {yaml("Ethernet8: 2|3", "Ethernet0: 2|3"), "t0.yaml:5:25: ", ""},
		"a port of the switch twice": {yaml("1/2: 7", "1/2: 1"),
			"t0.yaml:7:26: port 1 of the switch is at leaf0 Ethernet0, too", "once"},
		"no port": {yaml("1/2: 7", "1/2: seven"), `t0.yaml:7:26: "seven" is no port`, "once"},
		"before the first": {yaml("1/2: 7", "1/2: 0"),
			`t0.yaml:7:26: "0" is no port of an optical switch: write a number from 1`, ""},
		"an unknown device": {yaml("to: tester 1/1", "to: testre 1/1"),
			`t0.yaml:9:33: device "testre" has no port at the switch`, "did you mean tester?"},
		"an unknown port": {yaml("to: tester 1/1", "to: tester 1/3"), `t0.yaml:9:33: device "tester" has no port "1/3"`,
			"did you mean 1/1, or 1/2?"},
		"to itself": {yaml("to: tester 1/1", "to: leaf0 Ethernet0"), "t0.yaml:9:33: leaf0 Ethernet0 is linked to itself",
			""},
		"other lanes": {yaml("to: tester 1/1", "to: leaf1 Ethernet0"),
			"leaf0 Ethernet0 has 1 lanes, and leaf1 Ethernet0 has 2", ""},
		"no port named": {yaml("to: tester 1/1", "to: tester"), "t0.yaml:9:33: a link has a device and a port", "Ethernet0"},
		"a port in two links": {yaml("  - {from: leaf0 Ethernet8, to: leaf1 Ethernet0, one-way: true}",
			"  - {from: tester 1/2, to: leaf0 Ethernet0}"), "t0.yaml:10:28: what 0 (leaf0 Ethernet0) receives is wanted twice",
			"one link"},
		"a loss below zero": {yaml("one-way: true", "max-loss: -1"), "t0.yaml:10:12: max-loss -1 is below zero", "3.5"},
		"first port 2":      {yaml("first-port: 1", "first-port: 2"), "t0.yaml:3:13: 2 is neither", "first-port: 1"},
		"an unknown key":    {yaml("one-way", "oneway"), "t0.yaml:10:", ""},

		"a missing column": {table(func(x *Tables) { x.Links.Data = []byte("StartDevice,StartPort,EndDevice\na,b,c\n") }),
			"links.csv:1:1: column EndPort is missing", "begin with StartDevice,StartPort,EndDevice,EndPort"},
		"a short line": {table(func(x *Tables) { x.Links.Data = []byte(links + "leaf0,Ethernet0\n") }),
			"links.csv:4:1: wrong number", "as many fields"},
		"an empty table": {table(func(x *Tables) { x.Links.Data = nil }), "links.csv:1:1: it is empty", "begin with"},
		"an unknown direction": {table(func(x *Tables) { x.Links.Data = []byte(strings.Replace(links, "both", "up", 1)) }),
			`links.csv:2:28: direction "up"`, "both or one"},
		"twice in a table": {table(func(x *Tables) { x.Ports[1].Data = []byte(testers + "1/1,tester,8,ocs\n") }),
			`testers.csv:5:1: port "1/1" of device "tester" is there twice, first at port 6`, ""},
		"an unknown device in a table": {table(func(x *Tables) {
			x.Links.Data = []byte(strings.Replace(links, "leaf1", "leaf2", 1))
		}), `links.csv:3:23: device "leaf2"`, "did you mean leaf0, or leaf1?"},
		"another switch": {table(func(x *Tables) { x.Switch = "osc" }), `device "leaf0" has no port at the switch`,
			"table of ports"},
	} {
		err := tt.run()
		if err == nil || !strings.Contains(err.Error(), tt.says) || !strings.Contains(hint.Of(err), tt.hint) ||
			!hint.IsWrong(err) {
			t.Errorf("%s: %v (hint: %s), want %q and hint %q", name, err, hint.Of(err), tt.says, tt.hint)
		}
	}
}

// sound checks what every wiring keeps.
func sound(t *testing.T, w *Wiring) {
	ins, outs := map[southbound.Port]bool{}, map[southbound.Port]bool{}
	l := w.Lease("ocs", "h")
	for _, x := range w.Circuits() {
		if ins[x.In] || outs[x.Out] || x.In < 0 || x.Out < 0 || !l.Input(x.In) || !l.Output(x.Out) {
			t.Errorf("circuit %v: a port twice, below zero or not leased", x)
		}
		ins[x.In], outs[x.Out] = true, true
	}
}

func FuzzParseFile(f *testing.F) {
	f.Add([]byte(lab))
	f.Add([]byte("ports: {a: {'b.c[0]': 1}}\nlinks: [{from: a x, to: a b}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if w, err := ParseFile("f", data); err == nil {
			sound(t, w)
		}
	})
}

func FuzzParseTables(f *testing.F) {
	f.Add(switches, testers, links)
	f.Fuzz(func(t *testing.T, a, b, c string) {
		if w, err := ParseTables(tables(a, b, c)); err == nil {
			sound(t, w)
		}
	})
}
