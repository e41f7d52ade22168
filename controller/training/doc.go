// Package training describes a training job as its communication library sees it: ranks, the communicators that they
// form, and for each rank a graph of nodes that compute, join a collective, send or receive. A workload comes from
// Chakra traces (package chakra), or is generated from a model's size and the degrees of its parallelism (package
// llm). Package astrasim runs it by the rules of ASTRA-sim's analytical backend, package fluid exactly.
//
// All of it is plain data. It knows no fabric, no circuits and no jobs of the controller.
package training
