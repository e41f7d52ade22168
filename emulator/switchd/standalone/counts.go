package standalone

import (
	"fmt"

	"lightloom/emulator/netns"
	"lightloom/emulator/target"
)

// counts reads the counters of the ports. If a port has a shaper (HTB), it returns the shaper's count,
// which is exact: an interface counts a segment of 64 kB as one packet.
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
				*c = target.PortCount{InOctets: s.RxBytes, InPkts: s.RxPackets, OutOctets: s.TxBytes,
					OutPkts:     s.TxPackets,
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
