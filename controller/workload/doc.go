// Package workload makes jobs: it reads coflow-benchmark traces, folds a trace onto a fabric that is
// smaller than the cluster it was taken on, scales exactly, and generates synthetic jobs from a seed.
//
// It makes plain data out of text and seeds. It does not submit jobs, place tasks or keep time.
package workload
