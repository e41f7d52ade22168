// Package circuit changes the circuits of an optical switch that others use too: leases record who owns
// which ports; a plan leads from the existing circuits to the wanted ones, is checked state by state,
// and is applied step by step with rollback. Planning is pure; a southbound.Device and a Steering carry
// it out.
//
// It is for an operator who adopts one switch. The controller's own roll-out, for a whole fabric, does
// not use it.
package circuit
