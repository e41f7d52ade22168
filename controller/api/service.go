package api

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/controller/tracing"
)

// forwarded marks a call that another replica has forwarded: it goes no further.
const forwarded = "Lightloom-Forwarded-By"

// service is the generated interface in front of a Server.
type service struct{ *Server }

var _ apiv1connect.ControllerHandler = (*service)(nil)

// SubmitJobs takes a batch here if this replica leads, and forwards it to the leader otherwise.
func (s *service) SubmitJobs(ctx context.Context,
	r *connect.Request[apiv1.SubmitJobsRequest]) (resp *connect.Response[apiv1.SubmitJobsResponse], err error) {
	ctx, span := s.cfg.Tracer.Start(tracing.Carried(ctx, r.Header()), "SubmitJobs",
		trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(attribute.String("lightloom.replica", s.cfg.ID),
			attribute.String("lightloom.request", clip(r.Msg.RequestId)), attribute.Int("lightloom.jobs",
				len(r.Msg.Jobs))))
	defer func() {
		if err != nil {
			span.SetStatus(codes.Error, connect.CodeOf(err).String())
		}
		span.End()
	}()
	recorded := s.cfg.Replay && s.access(callerOf(ctx)) == controller.Admin
	batch, err := offers(r.Msg, recorded, s.cfg.Check)
	if err == nil {
		err = s.checkAge(r.Msg.RequestId)
	}
	if err != nil {
		return nil, encode(err)
	}
	ids, err := s.cfg.Submitter.Submit(ctx, batch)
	switch {
	case err == nil:
		return answerIDs(ids, len(batch), s.applied())
	case !errors.Is(err, ErrNotLeader) || r.Header().Get(forwarded) != "":
		return nil, encode(fmt.Errorf("submit jobs: %w", err))
	}
	if resp, err = s.forward(ctx, r.Msg); err != nil {
		return nil, encode(err)
	}
	return resp, nil
}

// clip keeps what a request id can have.
func clip(id string) string { return strings.ToValidUTF8(id[:min(len(id), MaxRequestSize)], "") }

func answerIDs(ids []controller.JobID, want int,
	index uint64) (*connect.Response[apiv1.SubmitJobsResponse], error) {
	if len(ids) != want {
		return nil, encode(fmt.Errorf("submit jobs: %d ids for %d jobs", len(ids), want))
	}
	out := &apiv1.SubmitJobsResponse{JobIds: make([]int32, 0, len(ids)), Index: index}
	for _, id := range ids {
		out.JobIds = append(out.JobIds, int32(id))
	}
	return connect.NewResponse(out), nil
}

// forward hands a batch to the leader as this replica knows it.
func (s *service) forward(ctx context.Context,
	m *apiv1.SubmitJobsRequest) (*connect.Response[apiv1.SubmitJobsResponse],
	error) {
	id, _, _ := s.cfg.Finder.Leader()
	leader := s.peer(id)
	if leader == nil { // unknown, or it was this replica a moment ago
		return nil, &Error{NoLeader, errors.New("submit jobs: no leader is known")}
	}
	out := connect.NewRequest(m)
	out.Header().Set(forwarded, s.cfg.ID)
	tracing.Carry(ctx, out.Header())
	resp, err := leader.SubmitJobs(ctx, out)
	if err != nil {
		return nil, fromLeader(id, err)
	}
	return connect.NewResponse(resp.Msg), nil
}

// fromLeader is the error of a forwarded call: in the leader's own words where it has decided.
func fromLeader(id string, err error) error {
	err = decode(err)
	switch code := CodeOf(err); code {
	case Invalid, TooLarge, Denied, NoRoom, Unknown, Missing:
		return err
	default:
		return &Error{code, fmt.Errorf("forward to leader %q: %w", id, err)}
	}
}

// Status returns the status of this replica.
func (s *service) Status(ctx context.Context,
	r *connect.Request[apiv1.StatusRequest]) (*connect.Response[apiv1.StatusResponse], error) {
	at, err := s.wait(ctx, r.Msg.Read, r.Header().Get(forwarded) != "")
	if err != nil {
		return nil, encode(err)
	}
	leader, _, term := s.cfg.Finder.Leader()
	c := s.cfg.Stater.Counts()
	at.Index = c.Index
	out := &apiv1.StatusResponse{
		Replica: s.cfg.ID, Leader: leader, LeaderAddress: s.address(leader), Term: term,
		AppliedIndex: c.Index,
		Jobs:         int64(c.Jobs), JobsEnded: int64(c.JobsEnded), Coflows: int64(c.Coflows),
		CoflowsEnded: int64(c.CoflowEnded), Read: at,
	}
	if r.Msg.Digest {
		index, digest := s.cfg.Stater.Digest()
		out.AppliedIndex, out.Digest, at.Index = index, digest[:], min(c.Index, index)
	}
	if s.cfg.Now != nil {
		now := s.cfg.Now()
		out.NowNs, out.Now = int64(now), s.wall(now)
	}
	if s.cfg.Ready != nil {
		out.Ready = s.cfg.Ready()
	}
	if s.cfg.Changes != nil {
		out.LeaderChanges = int64(s.cfg.Changes())
	}
	if s.cfg.Standing != nil {
		out.Standing, out.StandingReason, out.Troubles = s.cfg.Standing()
	}
	if r.Msg.Links {
		links, err := s.links(ctx, leader, r.Header().Get(forwarded) != "")
		if err != nil {
			return nil, encode(err)
		}
		out.Links = links
	}
	if r.Msg.Claims {
		if err := s.health(ctx, leader, r.Header().Get(forwarded) != "", out); err != nil {
			return nil, encode(err)
		}
	}
	return connect.NewResponse(out), nil
}

// chunk is how much of the state one message carries.
const chunk = 64 << 10

// State streams the whole state.
func (s *service) State(ctx context.Context, r *connect.Request[apiv1.StateRequest],
	to *connect.ServerStream[apiv1.StateChunk]) error {
	wait, cancel := context.WithTimeout(ctx, s.cfg.Limits.Call)
	at, err := s.wait(wait, r.Msg.Read, r.Header().Get(forwarded) != "")
	cancel()
	if err != nil {
		return encode(err)
	}
	snap, err := s.cfg.Stater.State(ctx, r.Msg.Live)
	if err != nil {
		return encode(fmt.Errorf("read state: %w", err))
	}
	at.Index = snap.Index
	m := &apiv1.StateChunk{Index: snap.Index, Digest: snap.Digest[:], Size: int64(len(snap.JSON)), Read: at}
	for rest := snap.JSON; ; {
		n := min(chunk, len(rest))
		m.Data, rest = rest[:n], rest[n:]
		if err := to.Send(m); err != nil || len(rest) == 0 {
			return err
		}
		m = new(apiv1.StateChunk)
	}
}

// Events streams what happens.
func (s *service) Events(ctx context.Context, r *connect.Request[apiv1.EventsRequest],
	to *connect.ServerStream[apiv1.Event]) error {
	if s.cfg.Eventer == nil {
		return encode(&Error{Missing, errors.New("read events: this controller keeps none")})
	}
	err := s.cfg.Eventer.Events(ctx, r.Msg.After, func(e Event) error {
		return to.Send(&apiv1.Event{Seq: e.Seq, AtNs: int64(e.At), Kind: e.Kind,
			Subject: e.Subject, Text: e.Text,
			At: s.wall(e.At)})
	})
	if err != nil {
		return encode(fmt.Errorf("read events: %w", err))
	}
	return nil
}

func eventFromWire(m *apiv1.Event) Event {
	return Event{Seq: m.Seq, At: time.Duration(m.AtNs), Kind: m.Kind, Subject: m.Subject, Text: m.Text}
}
