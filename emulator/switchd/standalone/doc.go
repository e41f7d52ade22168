// Package standalone runs one switch by itself: the device model, a dataplane on interfaces that are
// there already, and a gNMI target, in the process's own network namespace. Any testbed can start it;
// Mininet does.
//
// It makes no namespaces and no cables, and gives the interfaces back as it found them.
package standalone
