// Package audit finds out which fibre is plugged in where at an optical switch, which does not report
// it itself. It decides which circuits to set up round by round, takes what the switches behind the
// fibres have heard of each other by LLDP, and compares the result with the expected map.
//
// It sets no circuits and receives no LLDP itself: its caller does both, and keeps the time.
package audit
