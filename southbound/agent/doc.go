// Package agent is the leader's door to the hosts: a southbound.Hosts that hands every word to an agent process over
// gRPC and mutual TLS, in order, and tells what the agent reports.
//
// It is not the agent, which is the emulator's (or, on real hosts, the same code with one host), and it keeps nothing
// that a new leader could not ask for again.
package agent
