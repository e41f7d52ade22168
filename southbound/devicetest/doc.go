// Package devicetest is the conformance suite of drivers: it tests what every southbound.Device must
// do, whether it is an emulated device, a gNMI session with an emulated target, or a lab switch. A
// driver's own tests call Run.
//
// It waits for events with a deadline, never for a guessed time, and does not check how long a device takes.
package devicetest
