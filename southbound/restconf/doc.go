// Package restconf drives optical switches that have a RESTCONF server (RFC 8040) and nothing else, in Polatis' model
// optical-switch: the list /cross-connects/pair of ingress and egress ports. Such a switch has no intermediate states:
// a listed pair is connected. It sends no notifications, so the driver polls.
//
// It is a client. What fronts it with gNMI, so that gNMI stays the only southbound, is package target's Remote.
package restconf
