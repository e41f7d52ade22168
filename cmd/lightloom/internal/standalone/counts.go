package standalone

import (
	"fmt"

	"github.com/vishvananda/netlink"

	"lightloom/emulator/target"
)

// counts reads what has passed the ports. Where a shaper (HTB) is at a port its own count is told, for it is exact: an
// interface takes a segment of 64 kB for one packet.
func (p *ports) counts() ([]target.PortCount, error) {
	links, err := p.nl.LinkList()
	if err != nil {
		return nil, fmt.Errorf("count at ports: %w", err)
	}
	qdiscs, err := p.nl.QdiscList(nil)
	if err != nil {
		return nil, fmt.Errorf("count at ports: %w", err)
	}
	out := make([]target.PortCount, len(p.index))
	for i, index := range p.index {
		c := &out[i]
		for _, l := range links {
			if s := l.Attrs().Statistics; l.Attrs().Index == index && s != nil {
				*c = target.PortCount{InOctets: s.RxBytes, InPkts: s.RxPackets, OutOctets: s.TxBytes, OutPkts: s.TxPackets, OutDiscards: s.TxDropped}
			}
		}
		for _, q := range qdiscs {
			if a := q.Attrs(); a.LinkIndex == index && a.Parent == netlink.HANDLE_ROOT && q.Type() == "htb" && a.Statistics != nil {
				shaped(c, a.Statistics)
			}
		}
	}
	return out, nil
}

func shaped(c *target.PortCount, s *netlink.QdiscStatistics) {
	if s.Basic != nil {
		c.OutOctets, c.OutPkts = s.Basic.Bytes, uint64(s.Basic.Packets)
	}
	if s.Queue != nil {
		c.OutDiscards, c.Queue = uint64(s.Queue.Drops), uint64(s.Queue.Backlog)
	}
}
