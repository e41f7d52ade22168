// Package state is the replicated state machine: jobs and their tasks, the ledger of slots, the ledger of transfers and
// the ledger of circuits. Apply is pure: it reads no clock, draws no number and touches nothing, so that every replica
// that applies the same entries holds the same state, and Digest says so.
//
// It does not decide. It refuses an entry that would break a ledger (a slot twice, a port twice), whoever asked for it.
package state
