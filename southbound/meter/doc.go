// Package meter counts what passes between a controller and its switches: sessions, Sets, reads,
// telemetry, circuits and the queues in front of them, as Prometheus metrics in the caller's registry.
// It wraps a southbound.Device and does not change its behaviour.
package meter
