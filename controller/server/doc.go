// Package server is the controller's daemon: a replica's process with its log, northbound API, devices,
// hosts and metrics, and the cluster that starts the replicas and watches them.
//
// It uses devices and hosts through their drivers alone, and never the emulator. It runs package
// replica's log around package state, and package leader while the replica leads.
package server
