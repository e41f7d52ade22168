package standalone

import (
	"fmt"

	"lightloom/emulator/netns"
	"lightloom/emulator/target"
)

// counts reads what has passed the ports. Where a shaper (HTB) is at a port its own count is told, for it is exact: an
// interface takes a segment of 64 kB for one packet.
func (p *ports) counts() ([]target.PortCount, error) {
	links, err := p.nl.LinkList()
	if err != nil {
		return nil, fmt.Errorf("count at ports: %w", err)
	}
	shaped, err := netns.RootCounts(p.nl)
	if err != nil {
		return nil, fmt.Errorf("count at ports: %w", err)
	}
	out := make([]target.PortCount, len(p.index))
	for i, index := range p.index {
		c := &out[i]
		for _, l := range links {
			if s := l.Attrs().Statistics; l.Attrs().Index == index && s != nil {
				*c = target.PortCount{InOctets: s.RxBytes, InPkts: s.RxPackets, OutOctets: s.TxBytes, OutPkts: s.TxPackets,
					OutDiscards: s.TxDropped}
			}
		}
		if n, ok := shaped[index]; ok {
			c.OutOctets, c.OutPkts = uint64(n.Bytes), n.Packets
			c.OutDiscards, c.Queue = n.QueueDrops, uint64(n.Backlog)
		}
	}
	return out, nil
}
