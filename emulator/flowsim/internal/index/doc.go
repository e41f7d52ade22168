// Package index finds things of a simulation by number: routes by pair of hosts, and free places for rows that follow
// each other. It knows nothing of what stands there.
package index
