package netnstest

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"lightloom/emulator/dataplane/ebpf"
	"lightloom/emulator/dataplane/mirred"
	"lightloom/emulator/netns"
)

// The requirements that LIGHTLOOM_MUST can list, separated by commas: a test whose listed requirement
// is missing fails instead of being skipped.
const (
	Netns  = "netns"  // namespaces with HTB, u32 and mirred in them
	BPF    = "bpf"    // and eBPF
	Userns = "userns" // without root
)

// Need skips the test, with the reason, unless the machine has every ability.
func Need(t testing.TB, abilities ...string) {
	t.Helper()
	must := strings.Split(os.Getenv("LIGHTLOOM_MUST"), ",")
	for _, a := range abilities {
		err := able(a)
		if err == nil {
			continue
		}
		if slices.Contains(must, a) {
			t.Fatalf("LIGHTLOOM_MUST names %s: %v", a, err)
		}
		t.Skipf("needs %s: %v", a, err)
	}
}

func able(ability string) error {
	switch ability {
	case Userns:
		return netns.Supported(true)
	case Netns:
		return inside(mirred.Supported)
	case BPF:
		return inside(ebpf.Supported)
	}
	return errors.New("no such ability: take netns, bpf or userns")
}

// inside first checks for namespaces of our own: without them the skip reason is their error.
func inside(also func() error) error {
	if !netns.Inside() {
		if err := netns.Supported(false); err != nil {
			return err
		}
		return errors.New("the test runs outside of namespaces: does its TestMain call netnstest.Main?")
	}
	return also()
}
