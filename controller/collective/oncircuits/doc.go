// Package oncircuits chooses together which circuits optical switches hold and how a collective goes over them: which
// rack leads to which at every switch, in how many chunks, along which links and when.
//
// All of it is plain data in and plain data out. One rack is one rank, and every switch has a port, in and out, for
// every rack, as in topoeng.
package oncircuits
