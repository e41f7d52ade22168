//go:build !lightloom_previous

package state

// Newest is the feature level that this version knows.
const Newest Level = 12
