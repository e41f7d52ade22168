package rollout

import (
	"slices"
	"testing"

	"lightloom/southbound"
)

// TestConnections: what is written into room that has been given stays, whatever is given and written
// afterwards.
func TestConnections(t *testing.T) {
	m := &Mover{}
	var given, want [][]southbound.CrossConnect
	for n := range 3 * roomFor {
		list := m.connections(n % 70)
		var plain []southbound.CrossConnect
		for k := range n%70 + n%2 { // one more than was asked for, every other time
			x := southbound.CrossConnect{In: southbound.Port(n), Out: southbound.Port(k)}
			list, plain = append(list, x), append(plain, x)
		}
		given, want = append(given, list), append(want, plain)
	}
	for n := range given {
		if !slices.Equal(given[n], want[n]) {
			t.Fatalf("list %d is %v, want %v", n, given[n], want[n])
		}
	}
}
