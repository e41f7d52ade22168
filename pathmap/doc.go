// Package pathmap holds the packet network as a graph and the paths through it: nodes, ports, directed links with
// capacities, and the k shortest loopless paths between racks.
//
// It is the lowest room of the house: it imports nothing of ours, and owns the two units that every other room speaks
// in, BitsPerSecond and Bytes. It is not a routing protocol: it returns the paths that exist, and never chooses one for
// a flow.
package pathmap
