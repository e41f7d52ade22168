package circuits

import (
	"maps"
	"runtime"
	"slices"
	"testing"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/controller/policy/policytest/decided"
)

// TestDecisions: what every part reserves in random views, and by random estimates.
func TestDecisions(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("what is left is floating point, which other processors round otherwise")
	}
	fresh := map[string]func() decided.Part{
		"sunflow":          func() decided.Part { return Sunflow{} },
		"sunflow-memory":   func() decided.Part { return Sunflow{}.Remembering() },
		"sunflow-preempt":  func() decided.Part { return Sunflow{Preempt: true}.Remembering() },
		"sunflow-turning":  func() decided.Part { return Sunflow{Order: Turning}.Remembering() },
		"sunflow-every":    func() decided.Part { return Sunflow{Every: true}.Remembering() },
		"sunflow-hold":     func() decided.Part { return Sunflow{Fallback: controller.Hold}.Remembering() },
		"solstice-backlog": func() decided.Part { return Solstice().FromBacklog() },
	}
	for name := range parts(t) {
		fresh[name] = func() decided.Part { return parts(t)[name] }
	}
	var got []string
	for _, name := range slices.Sorted(maps.Keys(fresh)) {
		got = append(got, name+": "+decided.Views(policytest.View, fresh[name]),
			name+", estimates: "+decided.Views(policytest.Estimated, fresh[name]))
	}
	decided.Compare(t, "testdata/decisions.golden", *update, got)
}
