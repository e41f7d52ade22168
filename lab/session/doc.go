// Package session keeps a fabric up for its user: the command up, and the commands that use that fabric
// over a socket in the abstract namespace (exec, status, capture, audit, fail, heal, fibre, reserve,
// submit, cancel).
//
// Each file holds one command: the part of the user's process and the part of the process in the namespaces.
package session
