// Package collective fits collective operations to the links that there are: given a directed graph it says which link
// carries which chunk of data when, so that an all-gather, a reduce-scatter, an all-reduce or an all-to-all ends soon.
// Beside each schedule it has what no schedule beats.
//
// All of it is plain data in and plain data out, and equal input gives equal output. It knows no switches and no jobs,
// and sends nothing. Every node of a network takes part in every collective.
package collective
