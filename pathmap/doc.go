// Package pathmap holds the packet network as a graph and the paths through it: nodes, ports, directed
// links with capacities, and the k shortest loopless paths between racks.
//
// It is the lowest package of the module: it imports no other, and defines the two units that all
// others use, BitsPerSecond and Bytes. It is not a routing protocol: it returns the paths that exist,
// and never chooses one for a flow.
package pathmap
