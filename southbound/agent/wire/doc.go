// Package wire translates between southbound's words and the messages of the agent protocol: both ends of a connection
// use it, so that there is one rule for limits, for the splitting of large calls and for the meaning of errors.
//
// It neither listens nor dials: package agent is the leader's end, and the emulator's agent the hosts'.
package wire
