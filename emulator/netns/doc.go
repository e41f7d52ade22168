// Package netns builds a fabric out of real Linux interfaces: all switches in one network namespace,
// one anonymous namespace a host, a veth pair a cable, an HTB class a link, and a dataplane of package
// ebpf or mirred a switch.
//
// It happens inside namespaces of the process's own: Enter starts the program again in new ones, with
// or without root, Prepare finishes them from within, and when that process ends, however it ends, the
// kernel takes everything away.
//
// It decides nothing and sends nothing: switches obey through device.Plane, and hosts are lent through
// InHost.
package netns
