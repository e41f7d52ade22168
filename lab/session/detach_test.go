package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// busyLog is a log to which a fabric in the background writes while it is shown.
type busyLog struct {
	log   *os.File
	shown strings.Builder
}

func (b *busyLog) Write(text []byte) (int, error) {
	if b.shown.Len() == 0 {
		if _, err := b.log.WriteString("link tor0-spine0 fails\n"); err != nil {
			return 0, err
		}
	}
	return b.shown.Write(text)
}

// TestShowBusyLog: what a fabric has said until it is up is shown, also if it says more meanwhile.
func TestShowBusyLog(t *testing.T) {
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "up.log"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	said := strings.Repeat("note\n", 20_000) + "job 1 (report)\n"
	if _, err := f.WriteString(said); err != nil {
		t.Fatal(err)
	}
	b := &busyLog{log: f}
	if show(b, f); b.shown.String() != said {
		t.Errorf("%d bytes of %d are shown", b.shown.Len(), len(said))
	}
}
