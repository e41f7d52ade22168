// Package solve answers linear programs and separable concave ones whose columns may be too many to
// list, and proves how good each answer is: every answer has the value that it reaches, a bound that no
// answer beats, and a Verify that computes both again from the program, without the solver.
//
// It knows rows and columns only. What they mean (flows, links, tasks, servers) is its callers' business.
package solve
