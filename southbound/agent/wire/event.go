package wire

import (
	"fmt"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

// EventMessage returns e as it travels.
func EventMessage(e southbound.Event) *agentpb.Event {
	return &agentpb.Event{AtNs: int64(e.At), Kind: uint32(e.Kind), Coflow: int32(e.Coflow), Row: e.Row,
		Task: int32(e.Task), Host: int32(e.Host), TaskTry: e.Try}
}

// EventOf reads an event; kinds that are not known are an error, because what they tell would be lost.
func EventOf(m *agentpb.Event) (southbound.Event, error) {
	k := m.GetKind()
	if k < uint32(southbound.TaskEnded) || k > uint32(southbound.HostFound) {
		return southbound.Event{}, fmt.Errorf("read event: kind %d is unknown", k)
	}
	return southbound.Event{
		At:          time.Duration(m.GetAtNs()),
		Kind:        southbound.EventKind(k),
		HostFlowKey: southbound.HostFlowKey{Coflow: southbound.CoflowID(m.GetCoflow()), Row: m.GetRow()},
		Task:        southbound.TaskID(m.GetTask()),
		Try:         m.GetTaskTry(),
		Host:        southbound.HostID(m.GetHost()),
	}, nil
}
