// Package slurm joins Lightloom to Slurm: the topology files that Slurm reads of a fabric and its circuits, circuits
// for Slurm's jobs before they start, and a Slurm of its own over an emulated fabric.
//
// Slurm alone decides which job runs when. What is decided here are circuits, and which nodes a job that requires them
// waits for.
package slurm
