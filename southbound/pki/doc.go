// Package pki makes certificates: an authority, and identities whose role is written in the certificate, so that a
// switch cannot pass for a controller. Both sides of every connection show one.
//
// It is not a certificate store: nothing is revoked or renewed. The authority of a run lives in memory; that of a
// cluster on several machines is a file, which the cluster's founder keeps.
package pki
