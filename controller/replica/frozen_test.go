package replica

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/raft"
)

// TestFrozenFiles: what a node writes to disk and sends as a snapshot is what the first version wrote.
// A new form gets a magic of its own, and the old one is still read.
func TestFrozenFiles(t *testing.T) {
	record, _ := appendRecord(nil, &raft.Log{Index: 7, Term: 3, Type: raft.LogCommand, Data: []byte("entry"),
		Extensions: fence(3), AppendedAt: time.Unix(1_700_000_000, 5)}, 0x01020304)
	slot, err := encodeSlot(kept{Values: map[string][]byte{keyTerm: {0, 3}, keyVote: {0, 2}}, Last: 7,
		Snapshot: 4}, 9)
	if err != nil {
		t.Fatal(err)
	}
	snapshot := append(header{index: 7, term: 3, size: 5, digest: [32]byte{1, 2, 3}}.encode(), "state"...)
	lines := []string{"record " + hex.EncodeToString(record),
		"slot " + hex.EncodeToString(slot[:len(strings.TrimRight(string(slot), "\x00"))]),
		"snapshot " + hex.EncodeToString(snapshot),
		"part " + hex.EncodeToString(part{number: 2, of: 5}.encode(3))}
	want, err := os.ReadFile(filepath.Join("testdata", "frozen.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lines, "\n") + "\n"; got != string(want) {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
