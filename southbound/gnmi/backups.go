package gnmi

import (
	"context"
	"slices"
	"sync"

	"lightloom/southbound"
)

// keeper is a session with a device that can write no backups down: it remembers those of the rules
// that it has sent.
type keeper struct {
	*Session
	mu   sync.Mutex
	sent ruleTable
}

// KeepBackups returns a line that takes rules with backups for a device that knows none: the primary is
// sent, and the caller falls back by another Set. What is read back has the backups of the rules that
// this line has sent.
func KeepBackups(s *Session) Line { return &keeper{Session: s, sent: ruleTable{}} }

// Set implements southbound.Device.
func (k *keeper) Set(ctx context.Context, c *southbound.Change) error {
	bare := *c
	bare.Rules = slices.Clone(c.Rules)
	for i := range bare.Rules {
		bare.Rules[i].Backup = southbound.NoPort
	}
	if err := k.Session.Set(ctx, &bare); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sent = k.sent.after(c)
	return nil
}

// Read implements southbound.Device.
func (k *keeper) Read(ctx context.Context) (southbound.Seen, error) {
	seen, err := k.Session.Read(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, r := range seen.Rules {
		if s, ok := k.sent[r.Match]; ok && s.Primary == r.Primary {
			seen.Rules[i].Backup = s.Backup
		}
	}
	return seen, err
}
