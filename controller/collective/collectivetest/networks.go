package collectivetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller/collective"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// TACOS's table has a GiB in all on links of 50 GiB/s that take half a microsecond.
const (
	GiB     = pathmap.Bytes(1 << 30)
	Rate    = 50 * pathmap.BitsPerSecond(8<<30)
	Latency = 500 * time.Nanosecond
)

// Named is a network under the name that tables have for it.
type Named struct {
	Name string
	Net  *collective.Network
}

// String returns the name.
func (n Named) String() string { return n.Name }

// Table returns the networks of TACOS's table.
func Table() []Named {
	return []Named{
		{"ring 8", collective.Torus([]int{8}, Rate, Latency)},
		{"mesh 5×5", collective.Mesh([]int{5, 5}, Rate, Latency)},
		{"torus 3×3×3", collective.Torus([]int{3, 3, 3}, Rate, Latency)},
		{"torus 4×4×4", collective.Torus([]int{4, 4, 4}, Rate, Latency)},
		{"torus 8×8×8", collective.Torus([]int{8, 8, 8}, Rate, Latency)},
	}
}

// Cube returns a torus of that side, with some cables dead, or a node.
func Cube(side int, rng *rand.Rand) []Named {
	whole := collective.Torus([]int{side, side, side}, Rate, Latency)
	name := fmt.Sprintf("torus %d×%d×%d", side, side, side)
	out := []Named{{name, whole}}
	for _, dead := range []int{1, 3, 10} {
		cables := "cables"
		if dead == 1 {
			cables = "cable"
		}
		out = append(out, Named{fmt.Sprintf("%s, %d dead %s", name, dead, cables), Damaged(whole, dead, rng)})
	}
	return append(out, Named{name + ", a dead node", whole.WithoutNode(rng.Int32N(int32(whole.Nodes)))})
}

// Damaged returns a network without some of its cables, both ways, that still joins all nodes.
func Damaged(n *collective.Network, cables int, rng *rand.Rand) *collective.Network {
	for cables > 0 {
		l := rng.Int32N(int32(len(n.Links)))
		back := slices.IndexFunc(n.Links, func(b collective.Link) bool {
			return b.From == n.Links[l].To && b.To == n.Links[l].From
		})
		if left, _ := n.Without(l, int32(back)); left.Check() == nil {
			n = left
			cables--
		}
	}
	return n
}

// Regular returns a random regular graph.
func Regular(nodes, degree int, rng *rand.Rand) (*collective.Network, error) {
	t, err := topo.Jellyfish(nodes, degree, 0, Rate, rng)
	if err != nil {
		return nil, err
	}
	return collective.Of(t, Latency), nil
}

// Irregular returns a Jellyfish of 64 nodes with 8 cables each, of which a quarter is dead.
func Irregular(rng *rand.Rand) (*collective.Network, error) {
	n, err := Regular(64, 8, rng)
	if err != nil {
		return nil, err
	}
	return Damaged(n, len(n.Links)/8, rng), nil
}
