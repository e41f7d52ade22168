// Package fefi is far-end fault indication: it reports to the switch that sends into a fibre whether
// its light arrives at a locked receiver. Inside one process package device's OnLight does so. If an
// optical switch and its neighbours are processes in namespaces of their own, a small Ethernet frame
// against the direction of the light does.
//
// It is not a way to learn what the optical switch has in its table: one bit of one port travels.
package fefi
