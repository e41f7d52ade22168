package mirred

import (
	"encoding/binary"
	"testing"

	"github.com/vishvananda/netlink/nl"
)

func TestBasicPackets(t *testing.T) {
	basic := make([]byte, 16)
	binary.NativeEndian.PutUint64(basic, 1000)
	binary.NativeEndian.PutUint32(basic[8:], 7)
	tab := nl.NewRtAttr(nl.TCA_ACT_TAB, nil)
	act := tab.AddRtAttr(1, nil)
	act.AddRtAttr(actKind, nl.ZeroTerminated("mirred"))
	act.AddRtAttr(actStats, nil).AddRtAttr(statsBasic, basic)
	whole := tab.Serialize()
	if n, ok := basicPackets(whole); n != 7 || !ok {
		t.Errorf("counted %d, %v; want 7", n, ok)
	}
	for cut := range len(whole) {
		if n, ok := basicPackets(whole[:cut]); ok {
			t.Errorf("an answer cut at %d of %d bytes counts %d", cut, len(whole), n)
		}
	}
}

func FuzzBasicPackets(f *testing.F) {
	f.Add([]byte{8, 0, 1, 0, 4, 0, 1, 0})
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = basicPackets(b) })
}
