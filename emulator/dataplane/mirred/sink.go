package mirred

import (
	"encoding/binary"
	"fmt"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// sink is the end of packets that match nothing or meet darkness. `action drop` is not in every kernel,
// so it is a redirect to an interface that leads nowhere; one action, shared by all filters that drop,
// so its count outlives them.
type sink struct {
	link  int
	index int // of the action: the switch's own
}

// firstSink is the index of the action of switch 0, far above what the kernel hands out by itself, from
// 1: an index that is in use would be bound as it is, and drops would go out of whatever port that
// action names.
const firstSink = 1 << 30

func (s sink) action() netlink.Action {
	a := netlink.NewMirredAction(s.link)
	a.Index = s.index
	return a
}

// Attributes of an action in a message of its own (linux/pkt_cls.h, linux/gen_stats.h).
const (
	actKind    = 1
	actIndex   = 3
	actStats   = 4
	statsBasic = 1
)

// dropped returns the kernel's count of packets that have met the sink's action; each segment of a
// large packet counts.
func (s sink) dropped() (uint64, error) {
	req := nl.NewNetlinkRequest(unix.RTM_GETACTION, 0)
	req.AddData(&tcaMsg{})
	tab := nl.NewRtAttr(nl.TCA_ACT_TAB, nil)
	act := tab.AddRtAttr(1, nil)
	act.AddRtAttr(actKind, nl.ZeroTerminated("mirred"))
	act.AddRtAttr(actIndex, nl.Uint32Attr(uint32(s.index)))
	req.AddData(tab)
	// A socket of its own: netlink.Handle keeps its sockets to itself, and the switches' namespace is the
	// process's own, so any thread will do.
	msgs, err := req.Execute(unix.NETLINK_ROUTE, 0)
	if err != nil {
		return 0, fmt.Errorf("read action mirred %d: %w", s.index, err)
	}
	for _, m := range msgs {
		if len(m) < 4 {
			continue
		}
		if n, ok := basicPackets(m[4:]); ok {
			return n, nil
		}
	}
	return 0, fmt.Errorf("read action mirred %d: the answer holds no counters", s.index)
}

// tcaMsg is struct tcamsg: family unspecified.
type tcaMsg struct{}

func (*tcaMsg) Len() int          { return 4 }
func (*tcaMsg) Serialize() []byte { return make([]byte, 4) }

// basicPackets digs the packet count out of TCA_ACT_TAB → first action → TCA_ACT_STATS → TCA_STATS_BASIC.
func basicPackets(b []byte) (uint64, bool) {
	for _, want := range []uint16{nl.TCA_ACT_TAB, 1, actStats, statsBasic} {
		var ok bool
		if b, ok = attr(b, want); !ok {
			return 0, false
		}
	}
	if len(b) < 12 {
		return 0, false
	}
	return uint64(binary.NativeEndian.Uint32(b[8:])), true
}

// attr returns the payload of the first attribute of that type in b.
func attr(b []byte, want uint16) ([]byte, bool) {
	for len(b) >= 4 {
		n := int(binary.NativeEndian.Uint16(b))
		if n < 4 || n > len(b) {
			return nil, false
		}
		if binary.NativeEndian.Uint16(b[2:])&^uint16(unix.NLA_F_NESTED|unix.NLA_F_NET_BYTEORDER) == want {
			return b[4:n], true
		}
		b = b[min(len(b), (n+3)&^3):]
	}
	return nil, false
}
