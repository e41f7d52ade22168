// Package pki makes the certificates of one run: an authority that lives in memory, and identities whose role is
// written in the certificate, so that a switch cannot pass for a controller. Both sides of every connection show one.
//
// It is not a certificate store: nothing outlives the run, nothing is revoked, and the authority's key never leaves the
// process that made it.
package pki
