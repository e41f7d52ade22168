// Package target is a gNMI server in front of one device: it makes an emulated switch look like a real
// one. Set is one transaction, validated against a schema; Get, Subscribe and master arbitration follow
// the specification.
//
// It runs in real time, on a door that its caller runs (device.Door.Run). It holds no forwarding state:
// configuration becomes a change of the device, and events of the device become state.
package target
