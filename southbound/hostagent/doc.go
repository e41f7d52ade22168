// Package hostagent is the hosts' side of an emulated (or real) fabric: one process runs the tasks and
// moves the bytes of the hosts that it is given. A leader controls it over the protocol of
// southbound/agent, or a caller in the same process does directly.
//
// Every host flow is one TCP connection from its source to its destination. It carries a fixed pattern,
// and the receiver checks every byte, counts it once whatever happens to connections or leaders, and
// reports the end of the host flow. A sender follows its tag and its rate within about 10 ms.
//
// It is not the network: other packages make namespaces, links and switches, and need only implement
// Network.
package hostagent
