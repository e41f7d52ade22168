// Package replica keeps one state machine the same on several controllers: hashicorp/raft around a
// Machine, over mutual TLS, with files of its own on disk.
//
// A Node appends entries while it leads, applies every committed entry exactly once in the order of the
// log, and runs its caller's leading function for as long as it leads. It does not interpret entries,
// forwards nothing (the northbound does, see package api) and never acts on the fabric.
package replica
