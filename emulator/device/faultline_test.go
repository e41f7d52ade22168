package device_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"lightloom/emulator/device"
	"lightloom/southbound"
)

func TestParseStep(t *testing.T) {
	for _, tt := range []struct {
		line string
		want device.Step
		err  string
	}{
		{"stick", device.Step{Fault: device.Fault{Kind: device.Stick, Port: southbound.NoPort}}, ""},
		{"+500ms fail port=3 times=2", device.Step{At: 500 * time.Millisecond,
			Fault: device.Fault{Kind: device.Fail, Port: 3, Times: 2}}, ""},
		{"slow delay=2s", device.Step{Fault: device.Fault{Kind: device.Slow, Port: southbound.NoPort,
			Delay: 2 * time.Second}}, ""},
		{"loss port=0 db=3.5", device.Step{Fault: device.Fault{Kind: device.Loss, Loss: 350}}, ""},
		{"+1s restart boot=1s", device.Step{At: time.Second, Boot: time.Second,
			Fault: device.Fault{Port: southbound.NoPort}},
			""},
		{"clear", device.Step{Clear: true, Fault: device.Fault{Port: southbound.NoPort}}, ""},
		{"", device.Step{}, "write stick, fail"},
		{"+x stick", device.Step{}, "write a duration"},
		{"break", device.Step{}, `"break" is unknown`},
		{"stick delay=1s", device.Step{}, "it takes port, times"},
		{"stick port=1 port=2", device.Step{}, "each once"},
		{"stick port=-1", device.Step{}, "whole number"},
		{"slow", device.Step{}, "delay="},
		{"loss port=1", device.Step{}, "db="},
		{"loss db=NaN", device.Step{}, "decibels"},
		{"restart", device.Step{}, "boot="},
		{"clear port=1", device.Step{}, "it takes nothing"},
	} {
		got, err := device.ParseStep(tt.line)
		if tt.err == "" && (err != nil || !cmp.Equal(got, tt.want)) {
			t.Errorf("%q: %+v, %v; want %+v", tt.line, got, err, tt.want)
		}
		if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%q: %v, want %q", tt.line, err, tt.err)
		}
	}
}

func TestReadSteps(t *testing.T) {
	got, err := device.ReadSteps("f", strings.NewReader("# what goes wrong\n+2s clear\n\nlie times=1 # once\n+1s stick\n"))
	if err != nil || len(got) != 3 || got[0].Fault.Kind != device.Lie || got[1].Fault.Kind != device.Stick ||
		!got[2].Clear {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := device.ReadSteps("faults", strings.NewReader("lie\nlied\n")); err == nil ||
		!strings.HasPrefix(err.Error(), "faults:2: ") {
		t.Errorf("%v", err)
	}
}

func FuzzReadSteps(f *testing.F) {
	f.Add("+1s stick port=3 times=1\nloss db=2\nrestart boot=1s\n")
	f.Fuzz(func(t *testing.T, text string) {
		steps, err := device.ReadSteps("f", strings.NewReader(text))
		if err != nil && steps != nil {
			t.Fatal("steps and an error")
		}
		for i := 1; i < len(steps); i++ {
			if steps[i].At < steps[i-1].At {
				t.Fatal("not sorted")
			}
		}
	})
}
