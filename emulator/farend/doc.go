// Package farend tells the switch that sends into a fibre whether its light arrives at a locked receiver, as far-end
// fault signalling does on a real link. Inside one process package device's OnLight says so; where an optical switch and
// the switches around it are processes in namespaces of their own, a small Ethernet frame says so against the light.
//
// It is not a way to learn what the optical switch has in its table: one bit of one port travels.
package farend
