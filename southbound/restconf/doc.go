// Package restconf drives optical switches that have a RESTCONF server (RFC 8040) and nothing else, in
// Polatis' model optical-switch: the list /cross-connects/pair of ingress and egress ports. Such a
// switch has no intermediate states: a listed pair is connected. It sends no notifications, so the
// driver polls.
//
// It is a client. Package remote puts a gNMI target in front of it, so that gNMI stays the only southbound
// protocol.
package restconf
