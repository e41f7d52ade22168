// Package pki makes certificates: an authority, and identities whose role is written in the
// certificate, so that a switch cannot pass for a controller. Both sides of every connection show one.
// A Source reads an identity, the authorities that it trusts for each role and their revocation lists
// from files, and again when these change.
//
// It is no service: an authority is a file, or somebody else's, and issues what a command asks it for.
package pki
