package run

import (
	"cmp"
	"math"
	"time"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/controller/state"
	metering "lightloom/southbound/meter"
)

// budget is the delay budget of an outcome's circuits, a list of times for each stage; stages that nobody could tell have
// none.
type budget map[string][]time.Duration

// drawn begins a budget with what the device knows of the circuits that it lit.
func (o *outcome) drawn() budget {
	b := budget{}
	for _, l := range o.Lit {
		if l.Took.Known {
			b.add(metering.StageApply, l.Took.Apply)
			b.add(metering.StageDark, l.Took.Dark)
			b.add(metering.StageLock, l.Took.Lock)
		}
	}
	return b
}

func (b budget) add(stage string, took time.Duration) { b[stage] = append(b[stage], max(took, 0)) }

// note adds what the controller knows of a move.
func (b budget) note(intent time.Duration, s state.Stages, usable time.Duration) {
	for k, took := range stagesOf(intent, s, usable) {
		if took != unnoted {
			b.add(seenStages[k], took)
		}
	}
}

// seenStages are the stages of a move that the controller sees. What lies between the device's answer and its report of the
// circuit is all that the device does, and one stage.
var seenStages = [...]string{metering.StageCommit, metering.StageDrain, metering.StageRPC, metering.StageSettle, metering.StageUsable}

// unnoted is how long a stage took of which nobody knows.
const unnoted = time.Duration(math.MinInt64)

// stagesOf returns how long seenStages took.
func stagesOf(intent time.Duration, s state.Stages, usable time.Duration) [len(seenStages)]time.Duration {
	commit, drain := beforeRPC(intent, s)
	if s.Cleared == 0 {
		drain = unnoted
	}
	return [...]time.Duration{commit, drain, s.Accepted - s.Drained, s.Connected - s.Accepted, usable - s.Connected}
}

// beforeRPC parts the time from the intent to empty ports. Where nobody noted when steering had stopped, all of it is
// commit.
func beforeRPC(intent time.Duration, s state.Stages) (commit, drain time.Duration) {
	cleared := cmp.Or(s.Cleared, s.Drained)
	return max(cleared-intent, 0), max(s.Drained-cleared, 0)
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
