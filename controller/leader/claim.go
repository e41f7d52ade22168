package leader

import (
	"cmp"
	"log/slog"
	"slices"
	"sync"

	"lightloom/southbound"
)

// ClaimState is how far a leadership has come with a device.
type ClaimState uint8

// The states. Nothing is written to an Unclaimed device. A Fenced device refuses past leaders. An
// Unfenced device does not arbitrate: it accepts writes from this leader, and also from a past leader
// that has not noticed its loss.
const (
	Unclaimed ClaimState = iota
	Fenced
	Unfenced
)

func (s ClaimState) String() string { return [...]string{"unclaimed", "fenced", "unfenced"}[s] }

// Claim is how far the leadership has come with one device.
type Claim struct {
	Device southbound.DeviceID
	State  ClaimState
	Err    error    // why it is not claimed or not fenced; nil: no error, or no answer yet
	Holds  *Holding // nil: not kept
	// Refused is why it refused the last change that it was sent; nil: it took that one, or was sent none.
	Refused error
}

// claims is how far the leadership has come with every device.
type claims struct {
	log *slog.Logger

	mu sync.Mutex
	by map[southbound.DeviceID]Claim
}

func newClaims(log *slog.Logger, devices map[southbound.DeviceID]southbound.Device) *claims {
	c := &claims{log: log, by: map[southbound.DeviceID]Claim{}}
	for id := range devices {
		c.by[id] = Claim{Device: id}
	}
	return c
}

// note keeps the result of a claim, and logs it if it is new.
func (c *claims) note(d southbound.DeviceID, s ClaimState, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	old, listed := c.by[d]
	if !listed { // it has been removed meanwhile
		return
	}
	c.by[d] = Claim{Device: d, State: s, Err: err, Refused: old.Refused}
	known := old.State == s && (old.Err == nil) == (err == nil)
	switch {
	case known && (err == nil || old.Err.Error() == err.Error()):
	case s == Unclaimed:
		c.log.Warn("device is not claimed: nothing is written to it", "device", d, "error", err)
	case s == Unfenced:
		c.log.Warn("device is unfenced: leaders of the past can write to it", "device", d, "error", err)
	default:
		c.log.Info("device is claimed", "device", d)
	}
}

// changed keeps how a device has taken a change, and logs a refusal once for each reason in a row.
func (c *claims) changed(d southbound.DeviceID, refused error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, listed := c.by[d]
	if !listed {
		return
	}
	if refused != nil && (now.Refused == nil || now.Refused.Error() != refused.Error()) {
		c.log.Error("device has refused a change", "device", d, "error", refused)
	}
	now.Refused = refused
	c.by[d] = now
}

// expect has a device listed again.
func (c *claims) expect(d southbound.DeviceID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by[d] = Claim{Device: d}
}

// forget has a device listed no more.
func (c *claims) forget(d southbound.DeviceID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.by, d)
}

// Claims returns how far this leadership has come with every device, by id; nil of a nil Leader.
func (l *Leader) Claims() []Claim {
	if l == nil {
		return nil
	}
	l.claims.mu.Lock()
	defer l.claims.mu.Unlock()
	var out []Claim
	for _, c := range l.claims.by { // sorted below
		c.Holds = l.ledger.of(c.Device)
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Claim) int { return cmp.Compare(a.Device, b.Device) })
	return out
}
