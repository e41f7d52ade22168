// Package iteration runs one training job from what a user names: a trace, an algorithm or a model; the network
// between its ranks; the exact model or the rules of ASTRA-sim. It prints iteration time, exposed communication, bus
// bandwidth of each collective and what each rank did, and writes a timeline.
package iteration
