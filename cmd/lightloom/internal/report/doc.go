// Package report turns what runs measured into what people and tools read: report.json, run.json, report.html and a
// table. The same results give the same report, byte for byte; whatever differs from machine to machine or from run to
// run of the simulator (wall times, CPU, host, dates) is in run.json alone.
//
// It measures nothing and knows no fabric: results come in as plain data.
package report
