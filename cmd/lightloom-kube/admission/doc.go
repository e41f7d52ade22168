// Package admission decides about Kueue's workloads that wait for our admission check: each pod set that asks for a
// shape gets a Slice, and the check is Ready once they are. It takes what the cluster has as plain data, makes no calls
// and remembers nothing.
package admission
