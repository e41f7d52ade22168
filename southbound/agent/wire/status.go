package wire

import (
	"time"

	"lightloom/pathmap"
	"lightloom/southbound/agent/agentpb"
)

// Status is how an agent is.
type Status struct {
	Incarnation   uint64        // drawn when the agent's process began: another one means that everything was lost
	Now           time.Duration // instant of the run, by the agent's clock
	FirstEvent    uint64        // oldest kept
	NextEvent     uint64        // number that the next event gets
	LiveHostFlows int64
	LiveTasks     int64
	Stats         Stats
}

// Stats are counts since the agent began.
type Stats struct {
	HostFlowsEnded  int64
	BytesReceived   pathmap.Bytes // payload, each byte once
	Connections     int64         // made by senders
	Redials         int64         // of these, after an earlier one of the same host flow
	Refused         int64         // incoming connections with a wrong header
	Corrupt         int64         // incoming connections closed because a byte differed
	Retransmissions int64         // TCP segments, over all connections that ended
	Reordered       int64         // times that TCP saw reordering, over the same
	Marked          int64         // TCP segments that were marked by a queue (ECN), over the same
	TasksEnded      int64
}

// Message returns s as it travels.
func (s Status) Message() *agentpb.StatusReply {
	return &agentpb.StatusReply{Incarnation: s.Incarnation, NowNs: int64(s.Now), FirstEvent: s.FirstEvent,
		NextEvent: s.NextEvent, LiveHostFlows: s.LiveHostFlows, LiveTasks: s.LiveTasks,
		Stats: &agentpb.Stats{HostFlowsEnded: s.Stats.HostFlowsEnded,
			BytesReceived: int64(s.Stats.BytesReceived),
			Connections:   s.Stats.Connections, Redials: s.Stats.Redials, Refused: s.Stats.Refused, Corrupt: s.Stats.Corrupt,
			Retransmissions: s.Stats.Retransmissions, Reordered: s.Stats.Reordered, Marked: s.Stats.Marked,
			TasksEnded: s.Stats.TasksEnded}}
}

// StatusOf reads a status.
func StatusOf(m *agentpb.StatusReply) Status {
	st := m.GetStats()
	return Status{Incarnation: m.GetIncarnation(), Now: time.Duration(m.GetNowNs()),
		FirstEvent: m.GetFirstEvent(),
		NextEvent:  m.GetNextEvent(), LiveHostFlows: m.GetLiveHostFlows(), LiveTasks: m.GetLiveTasks(),
		Stats: Stats{HostFlowsEnded: st.GetHostFlowsEnded(), BytesReceived: pathmap.Bytes(st.GetBytesReceived()),
			Connections: st.GetConnections(), Redials: st.GetRedials(), Refused: st.GetRefused(), Corrupt: st.GetCorrupt(),
			Retransmissions: st.GetRetransmissions(), Reordered: st.GetReordered(), Marked: st.GetMarked(),
			TasksEnded: st.GetTasksEnded()}}
}
