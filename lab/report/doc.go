// Package report turns measurements into report.json, run.json, report.html and a table. The same
// results give the same report, byte for byte. Values that differ between machines, or between runs of
// the simulator (wall times, CPU, host, dates), are in run.json only.
//
// Results come in as plain data; the package measures nothing and knows no fabric.
package report
