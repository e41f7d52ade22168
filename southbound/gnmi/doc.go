// Package gnmi is the driver of switches that are gNMI targets: a session with one queue of Sets, and
// the profiles that translate between Lightloom's types and paths. A profile is pure: it maps a change
// to a SetRequest, and notifications to events.
//
// It knows nothing of emulation: it programs emulated and lab switches alike.
package gnmi
