// Package marking has packets of processes that nobody here started carry a DSCP, so that any
// application can use the path that its tag stands for. An eBPF program on the host's interfaces looks
// at the cgroup of each packet's socket, and at the destination; sockets that are open already are
// marked too, and so is what follows in mid-flow.
//
// It is not what marks host flows: agents set the option of their own sockets.
package marking
