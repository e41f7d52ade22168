// Package rollout turns the wanted state into ordered steps for devices: the rule tables of the packet
// network, and the moves of circuits, each step safe on its own. Check walks every table that a step
// leaves behind and finds loops, black holes and ports used twice.
//
// It sends nothing: the caller sends the steps as Sets, and passes their results back.
package rollout
