package outcome

import (
	"math"
	"time"

	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/lab/report"
	"lightloom/southbound/meter"
)

// addTook adds the device's own times of a circuit that it lit, if it knows them.
func addTook(to *report.Moved, t device.Took) {
	if t.Known {
		to.Stage(meter.StageApply).Add(max(t.Apply, 0))
		to.Stage(meter.StageDark).Add(max(t.Dark, 0))
		to.Stage(meter.StageLock).Add(max(t.Lock, 0))
	}
}

// addMove adds a move, whose circuit was up until its own end or that of the run, and returns the circuit.
func addMove(to *report.Moved, m *state.Move, end time.Duration) report.CircuitInterval {
	if m.Ended != state.Unset {
		end = m.Ended
	}
	c := interval(m, end)
	to.Circuit(c)
	if m.InService == state.Unset {
		return c
	}
	to.ReconfigurationDelays.Add(m.InService - m.Intent)
	if s := m.Stages; s.Drained > 0 && s.Accepted > 0 && s.Connected > 0 {
		for k, took := range stagesOf(m.Intent, s, m.InService) {
			if took != unnoted {
				to.Stage(seenStages[k]).Add(max(took, 0))
			}
		}
	}
	return c
}

// seenStages are the stages of a move that the controller sees. What lies between the device's answer
// and its report of the circuit is all that the device does, and one stage.
var seenStages = [...]string{meter.StageCommit, meter.StageDrain, meter.StageRPC, meter.StageSettle,
	meter.StageInService}

// unnoted marks a stage of unknown length.
const unnoted = time.Duration(math.MinInt64)

// stagesOf returns how long seenStages took.
func stagesOf(intent time.Duration, s state.Stages, inService time.Duration) [len(seenStages)]time.Duration {
	commit, drain := s.BeforeRPC(intent)
	if s.Cleared == 0 {
		drain = unnoted
	}
	return [...]time.Duration{commit, drain, s.Accepted - s.Drained, s.Connected - s.Accepted,
		inService - s.Connected}
}
