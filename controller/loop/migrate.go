package loop

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// sentOf returns what has been sent of rows that restart, by the hosts' reports.
func (l *Loop) sentOf(keys []southbound.HostFlowKey) (sum pathmap.Bytes) {
	for _, k := range keys {
		i, found := slices.BinarySearchFunc(l.decider.view.Coflows, k.Coflow,
			func(c controller.CoflowView, id southbound.CoflowID) int {
				return cmp.Compare(c.ID, id)
			})
		if found {
			c := &l.decider.view.Coflows[i]
			sum += max(0, c.Size[k.Row]-c.LeftBytes(int(k.Row)))
		}
	}
	return sum
}

// leave has rows that begin again elsewhere send nothing any more. Their tasks need no such word: a
// later try voids the one before.
func (l *Loop) leave(keys []southbound.HostFlowKey) {
	for i, k := range keys {
		l.pass.steer(k.Coflow, k.Row, southbound.TagHold)
		if i == 0 || keys[i-1].Coflow != k.Coflow {
			l.pending.touch(k.Coflow)
		}
	}
	if len(keys) > 0 {
		l.reservations.idle.fill()
	}
}

// holdLost stops the abandoned rows of a coflow, part of which has restarted elsewhere: the previous
// leader may have died before it told the hosts.
func (l *Loop) holdLost(id southbound.CoflowID, c *state.Coflow) {
	if c.Laid == nil {
		return
	}
	for r, done := range c.Done {
		if done {
			l.pass.steer(id, int32(r), southbound.TagHold)
		}
	}
}
