package server

import (
	"encoding/json"
	"fmt"
	"os"

	"lightloom/controller/loop"
)

// usages opens the file that gets how circuit reservations were used, and returns what adds a line to
// it; nil if there is none. Lines are a few hundred bytes and go out at once, so that a killed leader
// loses none.
func (p *replicaProcess) usages() (func(loop.Usage), func(), error) {
	if p.config.Usages == "" {
		return nil, func() {}, nil
	}
	f, err := os.OpenFile(p.config.Usages, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("record reservations: %w", err)
	}
	out := json.NewEncoder(f)
	tell := func(u loop.Usage) {
		if err := out.Encode(u); err != nil {
			p.log.Warn("record reservations", "error", err)
		}
	}
	return tell, func() { _ = f.Close() }, nil
}
