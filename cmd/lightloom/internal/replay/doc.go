// Package replay runs what package scenario prepared, row by row and seed by seed, and tells what came of it: the
// commands demo and replay, the jobs of controller run, and the cases of experiments.
//
// It decides where a run happens, predicts how long it takes, repeats what others disturbed, and writes the report. How
// a scenario runs is package testbed's.
package replay
