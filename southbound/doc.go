// Package southbound holds the words of what can be touched: switches with rules, ports and cross-connects, and hosts
// that run tasks and send bytes. The controller speaks them, and every fabric (simulated, emulated, real) understands
// them; neither side imports the other.
//
// It is not a driver: package gnmi is one, and so is the direct door of an emulated device.
package southbound
