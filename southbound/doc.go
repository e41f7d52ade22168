// Package southbound defines the device and host interfaces: switches with rules, ports and
// cross-connects, and hosts that run tasks and send bytes. The controller calls them, and every fabric
// (simulated, emulated, real) implements them; neither side imports the other.
//
// It is not a driver: package gnmi is one, and so is the in-process door of an emulated device.
package southbound
