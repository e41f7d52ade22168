// Package swim reads the MapReduce traces of the SWIM project (Chen, Ganapathi, Griffith, Katz: "The
// Case for Evaluating MapReduce Performance Using Workload Suites", MASCOTS 2011) and makes jobs of
// them.
//
// A SWIM trace holds bytes and instants alone: no tasks, no compute times, no placement. A replay must
// invent these. Here they come from a named, versioned model; each of its assumptions is a number that
// reports print and that an experiment can halve or double. The model makes no claim about the cluster
// that the trace was taken on.
package swim
