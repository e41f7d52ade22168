// Package emulated is the testbed of real packets on one machine: Linux interfaces in namespaces of
// their own, a gNMI target before every switch, the hosts' agent, and a controller of several
// processes. Run starts a child in the namespaces and reads its events; Inside is that child, and runs
// the scenario there.
package emulated
