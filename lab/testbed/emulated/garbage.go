package emulated

import (
	"os"
	"time"

	"lightloom/controller/server"
	"lightloom/pathmap/topo"
)

// need is the memory that a process takes before it collects garbage, in bytes. It is about what it needs in any case.
type need struct {
	node  int64 // a switch or host
	table int64 // a rack at a switch, whose table has a rule for each of its tags
}

// Of the process of the fabric and of the leader.
var (
	ofFabric = need{node: 80_000, table: 15_000}
	ofLeader = need{node: 60_000, table: 4_000}
)

// comingUp is how long the largest fabrics take to come up beside much other work.
const comingUp = 2 * time.Minute

// garbage is how much garbage processes of a fabric gather, unless GOGC or GOMEMLIMIT says so. A large fabric that is
// kept up needs two thirds of the memory so, for more processor time while it comes up. Where there is little memory,
// what they take before they collect it is a part of that.
func garbage(o *ChildConfig, f *topo.Fabric, n need) server.Garbage {
	nodes := len(f.Topology.Nodes())
	if !o.Stay || nodes <= fewNodes || os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return server.Garbage{}
	}
	tables := int64(nodes-f.Hosts()) * int64(f.Racks)
	const part = 8
	return server.Garbage{Percent: 50, Memory: min(n.node*int64(nodes)+n.table*tables, o.Memory/part), First: comingUp}
}
