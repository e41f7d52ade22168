// Package agent is the leader's interface to the hosts: a southbound.Hosts that sends every call in
// order to an agent process over gRPC and mutual TLS, and emits the events that the agent reports.
//
// It is not the agent itself (package hostagent), and it keeps no state that a new leader cannot
// request again.
package agent
