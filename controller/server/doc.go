// Package server is the controller's daemon: a replica's process with its log, northbound API, devices, hosts and
// metrics, and the cluster that starts the replicas and watches them.
//
// It knows devices and hosts by their drivers alone, never what emulates them. What it runs is package replica's log
// around package state, and package leader while the replica leads.
package server
