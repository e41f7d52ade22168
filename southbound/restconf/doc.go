// Package restconf drives optical switches that have a RESTCONF server (RFC 8040) and nothing else, in Polatis' model
// optical-switch: the list /cross-connects/pair of ingress and egress ports. Such a switch knows no states in between:
// a pair that is listed is connected, and nothing is told by itself; the driver asks again and again.
//
// It is a client. What fronts it with gNMI, so that gNMI stays the only southbound, is package target's Remote.
package restconf
