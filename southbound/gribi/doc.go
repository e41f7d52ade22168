// Package gribi is the driver of packet switches whose rules are programmed by gRIBI: entries of the
// abstract forwarding table (AFT), beside a gNMI session that reports ports. What rules are as entries
// is pure: Names says how, and plans and readings are plain data.
//
// A rule is an IPv4 route to a rack's prefix. The rules for any tag are in the default network
// instance, those of a tag in an instance of its own, to which the switch's VRF selection policy leads
// packets by their DSCP; that policy is the switch's configuration, and no part of gRIBI. A route names
// a next-hop group of one next hop, and the group perhaps a backup group.
//
// It never flushes: it deletes its own entries one by one, which it knows by the ids of their groups.
package gribi
