package agent

import (
	"errors"
	"fmt"
	"testing"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// TestUnserved: an agent that cannot do what it is asked serves no hosts. One that refuses the hosts
// serves those that it knew, one that is silent is lost for that, and other calls that fail do not count.
func TestUnserved(t *testing.T) {
	own := errors.New("listen at 10.0.0.1: address not there")
	for _, tt := range []struct {
		call     string
		err      error
		unserved bool
	}{
		{setNetwork, nil, false},
		{setNetwork, own, true},
		{setNetwork, fmt.Errorf("set network: %w", southbound.ErrRefused), false},
		{setNetwork, fmt.Errorf("set network: %w", southbound.ErrUnsupported), false},
		{setNetwork, fmt.Errorf("set network: %w", wire.ErrUnavailable), false},
		{"run", own, false},
	} {
		var c Client
		c.trouble.note(tt.call, tt.err)
		if err := c.unserved(); (err != nil) != tt.unserved {
			t.Errorf("%s: %v: %v", tt.call, tt.err, err)
		}
		c.trouble.clear() // it is asked again
		if err := c.unserved(); (err != nil) != tt.unserved {
			t.Errorf("%s: %v, asked again: %v", tt.call, tt.err, err)
		}
	}
}
