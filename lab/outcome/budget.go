package outcome

import (
	"math"
	"time"

	"lightloom/controller/state"
	"lightloom/lab/report"
	"lightloom/southbound/meter"
)

// budget is the delay budget of an outcome's circuits, a list of times for each stage; stages that were
// not measured have none.
type budget map[string][]time.Duration

// drawn starts a budget with the device's own times of the circuits that it lit.
func (o *Outcome) drawn() budget {
	b := budget{}
	for _, l := range o.Lit {
		if l.Took.Known {
			b.add(meter.StageApply, l.Took.Apply)
			b.add(meter.StageDark, l.Took.Dark)
			b.add(meter.StageLock, l.Took.Lock)
		}
	}
	return b
}

func (b budget) add(stage string, took time.Duration) { b[stage] = append(b[stage], max(took, 0)) }

// note adds the stages of a move that the controller knows.
func (b budget) note(intent time.Duration, s state.Stages, inService time.Duration) {
	for k, took := range stagesOf(intent, s, inService) {
		if took != unnoted {
			b.add(seenStages[k], took)
		}
	}
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

// known returns the stages that have times, in their order.
func (b budget) known() []report.StageTimes {
	var out []report.StageTimes
	for _, name := range report.StageNames() {
		if took := b[name]; len(took) > 0 {
			out = append(out, report.StageTimes{Name: name, Took: took})
		}
	}
	return out
}
