package schedule

import (
	"time"

	"lightloom/southbound"
)

// Static returns the one matching that carries the most of the total demand, to stand for as long as
// anything lasts: a patch panel, against which every switch that moves is to be held.
func Static(m Matrix) []southbound.Port {
	out, _ := heaviest(m, func(d time.Duration) time.Duration { return d })
	return out
}
