package main

import wiring "lightloom/cmd/lightloom/internal/run"

// wired returns what the binary's commands do.
func wired() actions {
	return actions{replay: wiring.Replay, up: wiring.Up, exec: wiring.Exec, status: wiring.ShowStatus, doctor: examine,
		experiment: runExperiment}
}
