// Package workload is where jobs come from: the reader of coflow-benchmark traces, the folding of a trace onto a
// fabric that is smaller than the cluster it was taken on, exact scaling, and a seeded generator of synthetic jobs.
//
// It makes plain data out of text and seeds. It does not submit jobs, place tasks or know of time passing.
package workload
