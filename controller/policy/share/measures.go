package share

import (
	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// measures are figures of a coflow as it was declared.
type measures struct {
	senders, receivers int           // hosts
	out, in            pathmap.Bytes // of the host that sends, or takes, most
}

func measure(c *controller.CoflowView, b *coflowRows) measures {
	m := measures{senders: b.senders, receivers: len(b.runs)}
	out := map[southbound.HostID]pathmap.Bytes{}
	for i := range b.runs {
		in := pathmap.Bytes(0)
		for r := b.runs[i].first; r < b.runs[i].end; r++ {
			in += c.Size[r]
			out[c.Src[r]] += c.Size[r]
			m.out = max(m.out, out[c.Src[r]])
		}
		m.in = max(m.in, in)
	}
	return m
}
