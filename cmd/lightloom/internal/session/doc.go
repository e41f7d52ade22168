// Package session is a fabric that is kept up for its user: the command up, and the commands that ask it for something
// over a socket in the abstract namespace (exec, status, capture, audit, fail, heal, fibre, reserve, submit, cancel).
//
// Each file holds one of them, what the user's process does and what the process in the namespaces answers.
package session
