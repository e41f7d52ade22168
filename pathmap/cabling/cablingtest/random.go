// Package cablingtest re-cables fabrics at random, for tests of all that works on fabrics.
package cablingtest

import (
	"fmt"
	"math/rand/v2"

	"lightloom/pathmap"
	"lightloom/pathmap/cabling"
	"lightloom/pathmap/topo"
)

// Plug draws what is plugged into a port of a switch: mostly one that is in use.
func Plug(r *rand.Rand, f *topo.Fabric) cabling.Plug {
	switches := len(f.Topology.Nodes()) - f.Hosts()
	port := func() string {
		n := pathmap.NodeID(r.IntN(switches))
		return fmt.Sprintf("%s:%d", f.Topology.Node(n).Name, r.IntN(int(f.Topology.Ports(n))+2))
	}
	p := cabling.Plug{From: port(), To: port(), Rate: pathmap.Gbps}
	if r.IntN(3) == 0 {
		p.To = ""
	}
	return p
}

// Recabled has some cables of f, which is as topo.New made it, moved, added and taken out, so that
// valid still holds.
func Recabled(f *topo.Fabric, r *rand.Rand, valid func(*topo.Fabric) bool) *topo.Fabric {
	now, is := pathmap.Cabling{}, f
	for range 8 {
		next, err := cabling.Next(f, now, []cabling.Plug{Plug(r, is)})
		if err != nil {
			continue
		}
		if x, err := cabling.Apply(f, next); err == nil && valid(x) {
			now, is = next, x
		}
	}
	return is
}
