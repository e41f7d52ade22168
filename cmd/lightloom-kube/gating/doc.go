// Package gating decides which pods get which hosts and circuits. It takes what Kubernetes and Lightloom have as plain
// data, and returns what is to be done: it makes no calls and remembers nothing.
//
// A Job whose pods carry the scheduling gate is one group: its pods get hosts of one slice, and their gate is removed
// once the slice is Ready. The slice's name is made of the Job's uid, so that whoever comes next finds it.
package gating
