package outcome

import (
	"slices"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/lab/report"
)

// TestBudget: stages have their order and the metrics' names; a stage without a report has no times.
func TestBudget(t *testing.T) {
	const ms = time.Millisecond
	told := device.Took{Known: true, Apply: 1 * ms, Dark: 10 * ms, Lock: 2 * ms}
	for _, tt := range []struct {
		name    string
		lit     []device.LitInterval
		cleared time.Duration
		want    []string
	}{
		{"emulated", []device.LitInterval{{Took: told}, {Took: told}}, 102 * ms,
			[]string{"commit [2ms]", "drain [3ms]", "rpc [3ms]", "apply [1ms 1ms]", "dark [10ms 10ms]",
				"lock [2ms 2ms]",
				"settle [13ms]", "in-service [0s]"}},
		{"a switch of a lab", []device.LitInterval{{From: ms}}, 104 * ms,
			[]string{"commit [4ms]", "drain [1ms]", "rpc [3ms]",
				"settle [13ms]", "in-service [0s]"}},
		{"a log of before", []device.LitInterval{{From: ms}}, 0,
			[]string{"commit [5ms]", "rpc [3ms]", "settle [13ms]",
				"in-service [0s]"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var sums report.Moved
			for _, l := range tt.lit {
				addTook(&sums, l.Took)
			}
			// clocks of two machines
			addMove(&sums, &state.Move{Intent: 100 * ms, InService: 120 * ms, Stages: state.Stages{Cleared: tt.cleared,
				Drained: 105 * ms, Accepted: 108 * ms, Connected: 121 * ms}}, 0)
			var got []string
			for _, name := range report.StageNames() {
				took, text := sums.Stage(name), name+" ["
				for i, n := 0, took.Count(); i < n; i++ {
					if i > 0 {
						text += " "
					}
					text += time.Duration(took.Percentiles(1, float64(i+1)/float64(n))[0]).String()
				}
				if took.Count() > 0 {
					got = append(got, text+"]")
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
