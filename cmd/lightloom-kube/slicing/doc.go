// Package slicing decides what becomes of Slices (accelerator.gke.io/v1beta1) of a cluster. It takes them and the
// controller's slices as plain data, and returns what is to be done: it makes no calls and remembers nothing.
//
// A Slice has one slice of the controller, whose name is made of the Slice's uid. The Slice's finalizer is there before
// it is asked for, and until it has been freed.
package slicing
