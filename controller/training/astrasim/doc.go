// Package astrasim runs a training workload by the rules of ASTRA-sim's analytical backend, to the nanosecond: its
// collectives, chunks, queues, endpoints and links, and the order of its events (astra-sim/astra-sim at 518bd51,
// astra-sim/astra-network-analytical at 599a047). It reads that tool's system and network files. What those rules leave
// to chance or never end is refused: memory nodes, a shared memory bus, and collectives without an implementation.
//
// It is a mode for comparison: it truncates times and stores whole messages at every hop, as its model does. Package
// fluid has neither.
package astrasim
