// Package dataplane holds what the ways of moving packets share: the description of a switch as the kernel has it, the
// rule table and the crossbar as plain data. Packages ebpf and mirred put them into the kernel, package mem keeps them
// in memory, and package dptest says what all three must do.
//
// It is not a plane itself, and knows nothing of namespaces: package netns makes the interfaces.
package dataplane
