// Package meter counts what passes between a controller and its switches: sessions, Sets, reads, telemetry, circuits
// and the queues in front of them, as Prometheus metrics in a registry that is handed in. It wraps a southbound.Device
// and changes nothing of what it does.
package meter
