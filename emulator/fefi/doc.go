// Package fefi is far-end fault indication: it tells the switch that sends into a fibre whether its light arrives at a
// locked receiver. Inside one process package device's OnLight says so; where an optical switch and the switches around
// it are processes in namespaces of their own, a small Ethernet frame says so against the light.
//
// It is not a way to learn what the optical switch has in its table: one bit of one port travels.
package fefi
