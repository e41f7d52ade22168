// Package devicetest is the conformance suite of drivers: what every southbound.Device must do, whether it is a direct
// door, a gNMI session with an emulated target, or a switch of a lab. A driver's own tests call Run.
//
// It waits for events with a deadline, never for a guessed time, and does not check how long a device takes.
package devicetest
