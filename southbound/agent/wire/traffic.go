package wire

import (
	"fmt"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

// Moved is payload that one host has sent another since the agent began.
type Moved struct {
	Src, Dst southbound.HostID
	Bytes    pathmap.Bytes
}

// Traffic is an agent's report of the bytes that its hosts have sent, sorted by (Src, Dst), each pair once.
type Traffic struct {
	At    time.Duration // instant of the run, by the agent's clock
	Moved []Moved
}

// Message returns t as it travels. More pairs than a message holds are refused.
func (t *Traffic) Message() (*agentpb.TrafficReply, error) {
	if len(t.Moved) > MaxMoved {
		return nil, fmt.Errorf("tell traffic: %d pairs of hosts, at most %d are told: %w",
			len(t.Moved), MaxMoved,
			southbound.ErrUnsupported)
	}
	m := &agentpb.TrafficReply{AtNs: int64(t.At)}
	for _, x := range t.Moved {
		m.Src, m.Dst, m.Bytes = append(m.Src, int32(x.Src)), append(m.Dst,
			int32(x.Dst)), append(m.Bytes, int64(x.Bytes))
	}
	return m, nil
}

// TrafficOf reads a reply.
func TrafficOf(m *agentpb.TrafficReply) (Traffic, error) {
	t := Traffic{At: time.Duration(m.GetAtNs())}
	src, dst, moved := m.GetSrc(), m.GetDst(), m.GetBytes()
	if len(src) != len(dst) || len(src) != len(moved) || len(src) > MaxMoved || t.At < 0 {
		return t, fmt.Errorf("read traffic: columns of %d, %d and %d rows of %v; equal ones of at most %d are taken",
			len(src), len(dst), len(moved), t.At, MaxMoved)
	}
	for i := range src {
		if moved[i] < 0 || i > 0 && (src[i] < src[i-1] || src[i] == src[i-1] && dst[i] <= dst[i-1]) {
			return t, fmt.Errorf("read traffic: row %d is %d→%d with %d bytes: rows are sorted, each pair once, and hold what "+
				"is above zero", i, src[i], dst[i], moved[i])
		}
		t.Moved = append(t.Moved, Moved{southbound.HostID(src[i]), southbound.HostID(dst[i]),
			pathmap.Bytes(moved[i])})
	}
	return t, nil
}
