package emulated

import (
	"context"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/fault"
)

// Apply implements Testbed.
func (s *Testbed) Apply(ctx context.Context, c fault.Change) error {
	s.run.down.Add(map[bool]int64{true: -1, false: 1}[c.Up])
	switch {
	case c.Kind == fault.Controller && c.Up:
		return s.Cluster.Revive(s.Cluster.IDs[c.Controller])
	case c.Kind == fault.Controller:
		return s.Cluster.Kill(ctx, s.Cluster.IDs[c.Controller])
	}
	return s.Packets.inject(ctx, c)
}

// OnTables implements Testbed.
func (s *Testbed) OnTables(f func(time.Duration, device.Applied)) {
	s.run.ends = append(s.run.ends, s.Packets.watchTables(func(a device.Applied) { f(s.Now(), a) }))
}
