// Package agent is the leader's interface to the hosts: a southbound.Hosts that sends every call in order to an agent
// process over gRPC and mutual TLS, and emits the events that the agent reports.
//
// It is not the agent, which is the emulator's (or, on real hosts, the same code with one host), and it keeps nothing
// that a new leader could not ask for again.
package agent
