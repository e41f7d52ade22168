// Package circuit changes the circuits of an optical switch that others use too: leases say whose ports are whose, a
// plan is made of what stands and what shall stand, checked state by state, and done step by step with a way back.
// Planning is pure; what acts is a southbound.Device and a Steering.
//
// It is not the controller's roll-out, which decides for a whole fabric: it is the hand of somebody who adopts a
// switch.
package circuit
