// Package gnmi is the driver of switches that are gNMI targets: a session with one queue of Sets, and the profiles that
// turn Lightloom's words into paths and back. A profile is pure: a change in, a SetRequest out; notifications in,
// events out.
//
// It knows nothing of emulation: what it programs may as well be a switch of a lab.
package gnmi
