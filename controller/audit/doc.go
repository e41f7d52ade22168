// Package audit finds out which fibre is plugged in where at an optical switch that itself says nothing: it decides
// which circuits to set up round by round, takes what the switches behind the fibres have heard of each other by LLDP,
// and compares what it found with what was to be expected.
//
// It sets nothing and hears nothing itself: whoever calls it does, and time is not its concern.
package audit
