// Package dataplane holds what all dataplanes share: the description of a switch in the kernel, and the
// rule table and the crossbar as plain data. Packages ebpf and mirred put them into the kernel, package
// mem keeps them in memory, and package dptest is the conformance suite of all three.
//
// It is not a dataplane itself, and knows nothing of namespaces: package netns makes the interfaces.
package dataplane
