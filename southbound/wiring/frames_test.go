package wiring

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lightloom/pathmap/tries"
	"lightloom/southbound"
	"lightloom/southbound/lldp"
)

// rack is a wiring of n links between ports of single devices: d0 p to d1 p, d2 p to d3 p, and so on.
func rack(t *testing.T, n int) *Wiring {
	t.Helper()
	var b strings.Builder
	b.WriteString("testbed: t0\nports:\n")
	for p := range 2*n + 1 {
		fmt.Fprintf(&b, "  d%d: {p: %d}\n", p, p)
	}
	b.WriteString("links:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - {from: d%d p, to: d%d p}\n", 2*i, 2*i+1)
	}
	w, err := ParseFile("t0.yaml", []byte(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// heardThrough is what arrives where the fibre pair of each device is at the port that at says, and every circuit of
// the wiring stands.
func heardThrough(w *Wiring, at []int) (out []Heard) {
	behind := map[southbound.Port]int{}
	for d, p := range at {
		behind[southbound.Port(p)] = d
	}
	for _, x := range w.Circuits() {
		out = append(out, Heard{fmt.Sprintf("d%d", behind[x.Out]), "p",
			lldp.Announcement{Chassis: fmt.Sprintf("d%d", behind[x.In]), Port: "p"}})
	}
	return out
}

func swap(n, a, b int) []int {
	at := make([]int, n)
	for i := range at {
		at[i] = i
	}
	at[a], at[b] = b, a
	return at
}

// TestVerifyFrames: what is heard is held against the links, and each sentence names what is wrong.
func TestVerifyFrames(t *testing.T) {
	w := rack(t, 2) // d4 is plugged in and not linked
	deaf := func(ends ...string) map[string]string {
		out := map[string]string{}
		for _, e := range ends {
			out[e] = "it is away"
		}
		return out
	}
	whole := heardThrough(w, swap(5, 0, 0))
	for name, tt := range map[string]struct {
		f       Frames
		arrived int
		says    []string // findings, then untried
	}{
		"all arrives": {Frames{Heard: whole}, 4, nil},
		"two are swapped": {Frames{Heard: heardThrough(w, swap(5, 0, 2))}, 0, []string{
			"d0 p ↔ d1 p: what arrives at d1 p is of d2 p: the fibres of 0 (d0 p) and 2 (d2 p) at the switch are swapped, " +
				"or those of 1 (d1 p) and 3 (d3 p)",
			"d0 p ↔ d1 p: what arrives at d0 p is of d3 p: the fibres of 1 (d1 p) and 3 (d3 p) at the switch are swapped, " +
				"or those of 0 (d0 p) and 2 (d2 p)",
			"d2 p ↔ d3 p: what arrives at d3 p is of d0 p: the fibres of 2 (d2 p) and 0 (d0 p) at the switch are swapped, " +
				"or those of 3 (d3 p) and 1 (d1 p)",
			"d2 p ↔ d3 p: what arrives at d2 p is of d1 p: the fibres of 3 (d3 p) and 1 (d1 p) at the switch are swapped, " +
				"or those of 2 (d2 p) and 0 (d0 p)"}},
		"one is of another port": {Frames{Heard: heardThrough(w, swap(5, 0, 4))}, 2, []string{
			"d0 p ↔ d1 p: what arrives at d1 p is of d4 p: the fibre of d4 p is at input 0 (d0 p)",
			"d0 p ↔ d1 p: nothing of d1 p arrives at d0 p"}},
		"a stranger": {Frames{Heard: slices.Concat(whole[1:], []Heard{{"d1", "p",
			lldp.Announcement{System: "lab2", Chassis: "02:00", Port: "x"}}})}, 3, []string{
			"d0 p ↔ d1 p: what arrives at d1 p is of lab2 x, which has no port at the switch in this file"}},
		"two at once": {Frames{Heard: slices.Concat(whole, []Heard{{"d1", "p",
			lldp.Announcement{Chassis: "d2", Port: "p"}}})}, 3, []string{
			"d0 p ↔ d1 p: what arrives at d1 p is of d0 p and d2 p"}},
		"names by system and description": {Frames{Heard: slices.Concat(whole[1:], []Heard{{"d1", "p",
			lldp.Announcement{System: "d0", Chassis: "02:00:00:00:00:01", Port: "etp1", Description: "p"}}})}, 4, nil},
		"nobody can be asked": {Frames{Deaf: deaf("d0 p", "d1 p", "d2 p", "d3 p")}, 0, []string{
			"d0 p ↔ d1 p: d1 p cannot be asked what arrives: it is away",
			"d0 p ↔ d1 p: d0 p cannot be asked what arrives: it is away",
			"d2 p ↔ d3 p: d3 p cannot be asked what arrives: it is away",
			"d2 p ↔ d3 p: d2 p cannot be asked what arrives: it is away"}},
		"a mute end": {Frames{Heard: whole[1:], Deaf: deaf("d0 p")}, 2, []string{
			"d0 p ↔ d1 p: nothing arrives at d1 p, and nothing shows that d0 p sends",
			"d0 p ↔ d1 p: d0 p cannot be asked what arrives: it is away"}},
		"a dark fibre": {Frames{Heard: whole[1:]}, 3, []string{"d0 p ↔ d1 p: nothing of d0 p arrives at d1 p"}},
	} {
		t.Run(name, func(t *testing.T) {
			c := w.VerifyFrames(tt.f)
			var says []string
			for _, x := range slices.Concat(c.Findings, c.Untried) {
				says = append(says, x.Link+": "+x.Problem)
			}
			if !slices.Equal(says, tt.says) || c.Arrived != tt.arrived {
				t.Errorf("%d arrived, want %d:\n%s\nwant\n%s", c.Arrived, tt.arrived, strings.Join(says, "\n"),
					strings.Join(tt.says, "\n"))
			}
		})
	}
}

// TestSwappedFrames: however fibres are plugged in, the directions with findings are those in which the slow reference
// sees another sender than it should.
func TestSwappedFrames(t *testing.T) {
	for seed := range tries.Of[uint64](50, 2000) {
		rnd := rand.New(rand.NewPCG(seed, 40))
		w := rack(t, 1+rnd.IntN(6))
		heard := heardThrough(w, rnd.Perm(2*len(w.Links)+1))
		rnd.Shuffle(len(heard), func(i, j int) { heard[i], heard[j] = heard[j], heard[i] })
		wrong := 0
		for i := range 2 * len(w.Links) {
			if !slices.ContainsFunc(heard, func(h Heard) bool {
				return h.Device == fmt.Sprintf("d%d", i) && h.Said.Chassis == fmt.Sprintf("d%d", i^1)
			}) {
				wrong++
			}
		}
		if c := w.VerifyFrames(Frames{Heard: heard}); len(c.Findings) != wrong || len(c.Untried) > 0 ||
			c.Arrived != 2*len(w.Links)-wrong {
			t.Errorf("seed %d: %+v, want %d findings", seed, c, wrong)
		}
	}
}
