// Package swim reads the MapReduce traces of the SWIM project (Chen, Ganapathi, Griffith, Katz: "The Case for
// Evaluating MapReduce Performance Using Workload Suites", MASCOTS 2011) and makes jobs of them.
//
// A SWIM trace holds bytes and instants alone: no task, no time of computing, no placement. Whoever replays one invents
// them. Here they come from a named, versioned model, whose every assumption is a number that reports print and that an
// experiment can halve or double. It is not a claim about the cluster that the trace was taken on.
package swim
