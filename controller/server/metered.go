package server

import (
	"context"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/leader"
	"lightloom/southbound/agent/wire"
)

// metered is hosts that report what they have sent in the units of estimates: layer-2 bytes by pair of
// hosts.
type metered struct{ talker }

// talker is one agent, or several.
type talker interface {
	leader.Hosts
	leader.Attended
	Traffic(ctx context.Context) (wire.Traffic, error)
}

var (
	_ leader.Meter    = metered{}
	_ leader.Attended = metered{}
)

// Traffic implements leader.Meter.
func (m metered) Traffic(ctx context.Context) (demand.Sample, error) {
	t, err := m.talker.Traffic(ctx)
	if err != nil {
		return demand.Sample{}, err
	}
	s := demand.Sample{At: t.At}
	for _, x := range t.Moved {
		s.Counters = append(s.Counters, demand.Counter{Src: x.Src, Dst: x.Dst, Bytes: controller.Wire(x.Bytes)})
	}
	return s, nil
}
