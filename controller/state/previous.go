//go:build lightloom_previous

package state

// Newest is the feature level of the version before: upgrades are tried with a program built so.
const Newest Level = 11
