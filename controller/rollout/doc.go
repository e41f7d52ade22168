// Package rollout turns what is wanted into ordered steps for devices: the rule tables of the packet network, and the
// moves of circuits, each step safe on its own. Check walks every table that a step leaves behind and finds loops,
// black holes and ports used twice.
//
// It sends nothing: steps go out as Sets, and what came of them is told back.
package rollout
