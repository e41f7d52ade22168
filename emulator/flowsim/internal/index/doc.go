// Package index finds things of a simulation by number: routes by pair of hosts, and free places for consecutive rows.
// It does not know what is stored there.
package index
