// Package wire translates between southbound's types and the messages of the agent protocol. Both ends
// of a connection use it, so that limits, the splitting of large calls and the meaning of errors are
// defined once.
//
// It neither listens nor dials: package agent is the leader's end, and package hostagent the hosts'.
package wire
