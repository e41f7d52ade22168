package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"lightloom/emulator/fault"
	"lightloom/southbound/hint"
)

// BreakOptions are the options of the commands fail and heal.
type BreakOptions struct {
	Fault fault.Fault
	Heal  bool

	Stdout io.Writer
}

// serveBreak makes something fail or recover, and returns whether that changed anything.
func (s *keeper) serveBreak(ctx context.Context, e fault.Event) reply {
	changed, err := s.Faults.Strike(ctx, s, e)
	if err != nil {
		return reply{Error: err.Error(), Hint: hint.Of(err)}
	}
	return reply{Changed: changed}
}

// Break makes a part of this user's running fabric fail or recover.
func Break(_ context.Context, opt BreakOptions) error {
	c, err := dialControl()
	if err != nil {
		return err
	}
	defer c.Close()
	if err := sendRequest(c, request{Fault: &fault.Event{Fault: opt.Fault, Heal: opt.Heal}}); err != nil {
		return err
	}
	var r reply
	if err := json.NewDecoder(c).Decode(&r); err != nil {
		return fmt.Errorf("strike %v: the fabric went down: %w", opt.Fault, err)
	}
	if r.Error != "" {
		return hint.New(r.Error, r.Hint)
	}
	word := map[bool]string{false: "failed", true: "healed"}[opt.Heal]
	if !r.Changed {
		word = map[bool]string{false: "had failed already", true: "had not failed"}[opt.Heal]
	}
	_, err = fmt.Fprintf(opt.Stdout, "%v %s\n", opt.Fault, word)
	return err
}
