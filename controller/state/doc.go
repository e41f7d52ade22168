// Package state is the replicated state machine: jobs and their tasks, and the ledgers of slots,
// transfers and circuits. Apply is pure: it reads no clock, draws no random number and has no other
// effects. All replicas that apply the same entries thus hold the same state, and Digest proves it.
//
// It does not decide. It refuses an entry that would break a ledger (a slot or port used twice),
// whatever its source.
package state
