package server

import (
	"lightloom/controller/api"
	"lightloom/controller/leader"
	"lightloom/pathmap"
)

// namedClaims gives claims the names of their devices.
func namedClaims(t *pathmap.Topology, all []leader.Claim) (out []api.Claim) {
	for _, c := range all {
		x := api.Claim{Device: t.Node(c.Device).Name, State: c.State.String()}
		if c.Err != nil {
			x.Error = c.Err.Error()
		}
		if h := c.Holds; h != nil {
			x.Holds = &api.DeviceHolding{Desired: api.DeviceHolds(h.Desired), Accepted: api.DeviceHolds(h.Accepted),
				Seen: api.DeviceHolds(h.Seen)}
		}
		out = append(out, x)
	}
	return out
}
