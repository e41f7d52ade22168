// Package live keeps a path map in line with links and nodes that fail and come back. After each change
// it computes anew only what the change touches: distances (repair.go, drift.go), then the paths of the
// pairs concerned (renew.go). An index (users.go) and, where links come back, an estimate (gate.go,
// passage.go) name these pairs.
//
// It detects no failures: its caller reports them.
package live
