// Package sweep runs grids of replays: every policy on every fabric under every trace or workload and every seed. Each
// run leaves one file, named for all that decides its figures, so that what is there is never made again, whoever made
// it. Processes make the runs, and one that is killed loses what it was at.
//
// It decides nothing about runs: package replay makes them and writes their reports.
package sweep
