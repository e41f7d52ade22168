// Package switches holds the commands that speak to single switches, without a fabric: target, device
// and circuit.
package switches
