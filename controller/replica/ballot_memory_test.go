package replica

import (
	"strings"
	"testing"

	"lightloom/controller/replica/rollcall"
)

// TestMemoryFits: what a replica remembers of as many peers as it can fits into a slot of the ballot.
func TestMemoryFits(t *testing.T) {
	const most = ^uint64(0)
	k := kept{Values: map[string][]byte{keyTerm: make([]byte, 8), keyVote: make([]byte, 8),
		"LastVoteCand": make([]byte, 64)},
		Last: most, Snapshot: most, Sum: ^uint32(0)}
	k.Peers = map[string]rollcall.Sighting{}
	for range rollcall.MaxStarts {
		k.Own = append(k.Own, rollcall.Start{Count: 1 << 32, Nonce: most})
	}
	for i := range rollcall.MaxSeen {
		k.Peers[strings.Repeat(string(rune('a'+i)), rollcall.MaxPeer)] = rollcall.Sighting{
			Start:  rollcall.Start{Count: 1 << 32, Nonce: most},
			Newest: 1 << 32, Held: rollcall.Position{Term: 1 << 32, Index: 1 << 40}}
	}
	k.Back, k.By = true, strings.Repeat("x", rollcall.MaxPeer)
	if _, err := encodeSlot(k, most); err != nil {
		t.Error(err)
	}
}
