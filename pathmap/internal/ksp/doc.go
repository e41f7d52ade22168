// Package ksp finds and stores the k shortest loopless paths of all pairs, on graphs of plain numbers.
// It is what path maps and their repair (pathmap/live) are both made of, and knows nothing of nodes'
// roles, capacities or failures.
//
// A walk, Yen's algorithm and, where the distances to a target are at hand, a finder give the same
// paths in the same order; they differ in what they cost.
package ksp
