package hostagent

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
	"lightloom/southbound/agent/wire"
	"lightloom/southbound/guard"
	"lightloom/southbound/pki"
)

// Limits of a leader's connections: enough for a handful of replicas, each with its calls and two streams.
const (
	maxStreams   = 64
	leastPing    = 4 * time.Second
	handshake    = 10 * time.Second
	maxHeaders   = 16 << 10
	idleAfter    = 30 * time.Second
	pingPatience = 10 * time.Second
)

// Serve lets leaders in at lis until ctx ends (nil) or the listener breaks. conf must ask for the
// leader's certificate. lis is closed when Serve returns. Several Serves may run at once; ending one
// does not end the agent.
func (a *Agent) Serve(ctx context.Context, lis net.Listener, conf *tls.Config) error {
	if err := pki.CheckServer(conf); err != nil {
		lis.Close()
		return fmt.Errorf("serve agent: %w", err)
	}
	calls := newLimit(a.cfg.MaxRequests)
	srv := grpc.NewServer(
		grpc.Creds(guard.Credentials()), grpc.UnaryInterceptor(calls.unary), grpc.StreamInterceptor(calls.stream),
		grpc.MaxRecvMsgSize(wire.MaxMessage), grpc.MaxSendMsgSize(wire.MaxMessage),
		grpc.MaxConcurrentStreams(maxStreams), grpc.ConnectionTimeout(handshake), grpc.MaxHeaderListSize(maxHeaders),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: leastPing,
			PermitWithoutStream: true}),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: idleAfter, Timeout: pingPatience}),
		grpc.WaitForHandlers(true),
	)
	life, end := context.WithCancel(ctx)
	defer end()
	defer context.AfterFunc(a.ctx, end)()
	agentpb.RegisterAgentServer(srv, &server{a: a, ctx: life})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		<-life.Done()
		srv.Stop()
	}()
	err := srv.Serve(guard.New(lis, guard.Config{TLS: guard.GRPC(conf), Logger: a.cfg.Log}))
	broken := life.Err() == nil
	end()
	<-stopped
	if broken && err != nil {
		return fmt.Errorf("serve agent: %w", err)
	}
	return nil
}

// server speaks the protocol for an agent.
type server struct {
	agentpb.UnimplementedAgentServer
	a   *Agent
	ctx context.Context // ends with Serve
}

// admit checks the election id with the fence.
func (s *server) admit(m *agentpb.Election) error {
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	return s.a.fence.admit(wire.ElectionOf(m))
}

func (s *server) Run(_ context.Context, m *agentpb.RunRequest) (*agentpb.RunReply, error) {
	if err := s.admit(m.GetElection()); err != nil {
		return nil, wire.ToStatus(err)
	}
	return &agentpb.RunReply{}, wire.ToStatus(s.a.Run(wire.Tasks(m)))
}

func (s *server) Start(_ context.Context, m *agentpb.StartRequest) (*agentpb.StartReply, error) {
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	if err := s.a.fence.admit(wire.ElectionOf(m.GetElection())); err != nil {
		return nil, wire.ToStatus(err)
	}
	out := &agentpb.StartReply{}
	for _, c := range m.GetChunks() {
		st, err := s.a.startChunk(c)
		if err != nil {
			return nil, wire.ToStatus(err)
		}
		out.Status = append(out.Status, st)
	}
	return out, nil
}

func (a *Agent) startChunk(c *agentpb.Chunk) (agentpb.StartStatus, error) {
	switch known, ended := a.table.known(southbound.CoflowID(c.GetCoflow())); {
	case ended:
		return agentpb.StartStatus_START_STATUS_ENDED, nil
	case known:
		return agentpb.StartStatus_START_STATUS_KNOWN, nil
	}
	start, err := a.fence.asm.Add(c)
	if err != nil || start == nil {
		return agentpb.StartStatus_START_STATUS_PARTIAL, err
	}
	if err := wire.CheckStart(start, a.net().hosts()); err != nil {
		return 0, err
	}
	return agentpb.StartStatus_START_STATUS_STARTED, a.startLocked(start)
}

func (s *server) Steer(_ context.Context, m *agentpb.SteerRequest) (*agentpb.SteerReply, error) {
	if err := s.admit(m.GetElection()); err != nil {
		return nil, wire.ToStatus(err)
	}
	steers, err := wire.Steerings(m)
	if err == nil {
		err = s.a.Steer(steers)
	}
	return &agentpb.SteerReply{}, wire.ToStatus(err)
}

func (s *server) SetRates(_ context.Context, m *agentpb.SetRatesRequest) (*agentpb.SetRatesReply, error) {
	r, onlyPairs, err := wire.Rates(m)
	if err != nil {
		return nil, wire.ToStatus(err)
	}
	s.a.mu.Lock()
	defer s.a.mu.Unlock()
	if err := s.a.fence.admit(wire.ElectionOf(m.GetElection())); err != nil {
		return nil, wire.ToStatus(err)
	}
	if !s.a.fence.derived {
		s.a.rates.forgetPairs()
		s.a.fence.derived = true
	}
	s.a.rates.set(r, onlyPairs)
	s.a.settleAll()
	return &agentpb.SetRatesReply{}, nil
}

func (s *server) Traffic(_ context.Context, m *agentpb.TrafficRequest) (*agentpb.TrafficReply, error) {
	if err := s.admit(m.GetElection()); err != nil {
		return nil, wire.ToStatus(err)
	}
	moved, err := s.a.Traffic()
	if err != nil {
		return nil, wire.ToStatus(err)
	}
	out, err := (&wire.Traffic{At: s.a.cfg.Now(), Moved: moved}).Message()
	return out, wire.ToStatus(err)
}

func (s *server) SetNetwork(_ context.Context,
	m *agentpb.SetNetworkRequest) (*agentpb.SetNetworkReply, error) {
	s.a.meeting.Lock() // so that what an earlier leader says does not come after what a later one has said
	defer s.a.meeting.Unlock()
	if err := s.admit(m.GetElection()); err != nil {
		return nil, wire.ToStatus(err)
	}
	s.a.mu.Lock()
	n, err := s.a.fence.net.Add(m)
	s.a.mu.Unlock()
	if err == nil && n != nil {
		err = s.a.meet(n)
	}
	return &agentpb.SetNetworkReply{}, wire.ToStatus(err)
}

func (s *server) Ack(_ context.Context, m *agentpb.AckRequest) (*agentpb.AckReply, error) {
	if err := s.admit(m.GetElection()); err != nil {
		return nil, wire.ToStatus(err)
	}
	return &agentpb.AckReply{}, wire.ToStatus(s.a.Ack(m.GetThrough()))
}

func (s *server) Status(_ context.Context, m *agentpb.StatusRequest) (*agentpb.StatusReply, error) {
	if err := s.admit(m.GetElection()); err != nil {
		return nil, wire.ToStatus(err)
	}
	return s.a.Status().Message(), nil
}

func (s *server) Regard(_ context.Context, m *agentpb.RegardRequest) (*agentpb.RegardReply, error) {
	if err := s.admit(m.GetElection()); err != nil {
		return nil, wire.ToStatus(err)
	}
	for _, h := range m.GetHost() {
		if err := s.a.Regard(southbound.HostID(h), m.GetUp()); err != nil {
			return nil, wire.ToStatus(err)
		}
	}
	return &agentpb.RegardReply{}, nil
}
