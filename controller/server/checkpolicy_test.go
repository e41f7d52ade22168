package server

import (
	"strings"
	"testing"

	"lightloom/controller"
)

// TestFewQueues: a policy with priorities takes over only where ports have queues for them.
func TestFewQueues(t *testing.T) {
	for _, few := range []bool{false, true} {
		p := &replicaProcess{config: ReplicaConfig{Policy: "fair", Parent: Parent{FewQueues: few}}}
		for name, gives := range map[string]bool{"priority": true, "pushbox": true, "sebf": false} {
			err := p.checkPolicy(&controller.FabricChange{}, &controller.FabricChange{Policy: name})
			if few && gives {
				if err == nil || !strings.Contains(err.Error(), "policy "+name+": it gives priorities 1 to 6") {
					t.Errorf("%s on few queues: %v", name, err)
				}
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
