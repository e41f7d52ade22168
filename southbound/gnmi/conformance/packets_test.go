package conformance

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/frameprobe"
)

// TestCarried: frames tell whether a circuit carries them; where none was sent, nothing is said of the switch.
func TestCarried(t *testing.T) {
	const in, out, other = 0, 1, 2
	at := func(ports ...southbound.Port) map[southbound.Port][]frameprobe.Arrival {
		m := map[southbound.Port][]frameprobe.Arrival{}
		for _, p := range ports {
			m[p] = []frameprobe.Arrival{{}}
		}
		return m
	}
	sent := []time.Time{{}}
	for name, tt := range map[string]struct {
		w    frameprobe.Watched
		says string // "": it carries
	}{
		"all arrive":     {frameprobe.Watched{Sent: sent, Arrived: at(out)}, ""},
		"none arrives":   {frameprobe.Watched{Sent: sent}, "nothing of what enters port 0 leaves port 1"},
		"at another one": {frameprobe.Watched{Sent: sent, Arrived: at(out, other)}, "leave port 2"},
		"none was sent":  {frameprobe.Watched{}, "too busy"},
	} {
		err := carried(&tt.w, in, out, []southbound.Port{in, out, other})
		if tt.says == "" && err != nil || tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %v, want %q", name, err, tt.says)
		}
		if skipped := errors.Is(err, errSkip); skipped != (len(tt.w.Sent) == 0) {
			t.Errorf("%s: skipped %v", name, skipped)
		}
	}
}
