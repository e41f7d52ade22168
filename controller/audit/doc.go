// Package audit finds out which fibre is plugged in where at an optical switch that itself says nothing: it decides
// which circuits to set up round by round, takes what the switches behind the fibres have heard of each other by LLDP,
// and compares what it found with what was to be expected.
//
// It sets no circuits and receives no LLDP itself: its caller does both, and keeps the time.
package audit
