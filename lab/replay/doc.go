// Package replay runs what package scenario prepared, row by row and seed by seed, and reports the
// results: for the commands demo and replay, the jobs of controller run, and the cases of experiments.
//
// It decides where a run happens, predicts its duration, repeats runs that others disturbed, and writes
// the report. Package testbed runs the scenario itself.
package replay
