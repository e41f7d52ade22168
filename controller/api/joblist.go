package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// JobQuery is a page of jobs to read.
type JobQuery struct {
	Filter *apiv1.JobFilter // nil: all jobs
	From   controller.JobID // the first that may be in it
	Down   bool             // by falling ids
	Most   int              // jobs
}

// JobReader reads the jobs of this replica, leader or not, those that have left the state included.
type JobReader interface {
	// Job returns a job; nil if it is not known.
	Job(id controller.JobID) (*apiv1.GetJobResponse, error)
	// Jobs returns jobs in their order, and the id from which on there may be more; NoJob: there are none.
	Jobs(q JobQuery) (page []*apiv1.JobInfo, next controller.JobID, err error)
	// WatchJobs calls sink as WatchJobs of the API does, until ctx ends (nil) or sink fails (its error).
	// Messages are shared: they are not written to.
	WatchJobs(ctx context.Context, after uint64, sink func(*apiv1.JobsChanged) error) error
}

// NoJob is the id of no job.
const NoJob = controller.JobID(-1)

// Sizes of pages.
const (
	defaultPage = 100
	MaxPage     = 1000
	maxIDs      = 1 << 14 // in a filter
)

// wall returns the time of the day of an instant of the run; nil if the replica does not know when that
// began.
func (s *Server) wall(at time.Duration) *timestamppb.Timestamp {
	if s.cfg.Epoch == nil {
		return nil
	}
	return timestamppb.New(s.cfg.Epoch().Add(at))
}

// reads returns the only user whose jobs a caller may read; "" for all. A caller whose access was taken
// back since it was admitted reads nothing.
func (s *Server) reads(ctx context.Context) (user string, err error) {
	switch c := callerOf(ctx); s.access(c) {
	case "":
		return "", errTakenBack
	case controller.Tenant:
		return c.Name, nil
	default:
		return "", nil
	}
}

var errTakenBack = &Error{Denied, errors.New("what was granted was taken back")}

// narrowed returns a filter that a caller may use.
func (s *Server) narrowed(ctx context.Context, f *apiv1.JobFilter) (*apiv1.JobFilter, error) {
	if len(f.GetIds()) > maxIDs {
		return nil, &Error{TooLarge, fmt.Errorf("%d ids in a filter, at most %d are taken",
			len(f.GetIds()), maxIDs)}
	}
	for _, p := range f.GetPhases() {
		if _, known := apiv1.JobPhase_name[int32(p)]; !known || p == apiv1.JobPhase_JOB_PHASE_UNSPECIFIED {
			return nil, &Error{Invalid, fmt.Errorf("phase %d in a filter is none", p)}
		}
	}
	user, err := s.reads(ctx)
	if err != nil || user == "" {
		return f, err
	}
	if _, err := own(user, f.GetUser()); err != nil {
		return nil, err
	}
	return &apiv1.JobFilter{Ids: f.GetIds(), Phases: f.GetPhases(), Name: f.GetName(), User: user}, nil
}

// Matches reports whether a filter lets a job through.
func Matches(f *apiv1.JobFilter, j *apiv1.JobInfo) bool {
	return f == nil || (len(f.Ids) == 0 || slices.Contains(f.Ids, j.Id)) &&
		(len(f.Phases) == 0 || slices.Contains(f.Phases, j.Phase)) &&
		(f.User == "" || f.User == j.User) && (f.Name == "" || f.Name == j.Name)
}

// filtered leaves the jobs in a message that a filter lets through.
func filtered(f *apiv1.JobFilter, c *apiv1.JobsChanged) *apiv1.JobsChanged {
	if f == nil {
		return c
	}
	out := &apiv1.JobsChanged{Index: c.Index, Reset_: c.Reset_}
	for _, j := range c.Jobs {
		if Matches(f, j) {
			out.Jobs = append(out.Jobs, j)
		}
	}
	return out
}

var errNoJobs = &Error{Missing, errors.New("this controller tells of no jobs")}

// GetJob returns a job as this replica has it.
func (s *service) GetJob(ctx context.Context,
	r *connect.Request[apiv1.GetJobRequest]) (*connect.Response[apiv1.GetJobResponse], error) {
	if s.cfg.Jobs == nil {
		return nil, encode(errNoJobs)
	}
	at, err := s.wait(ctx, r.Msg.Read, r.Header().Get(forwarded) != "")
	if err != nil {
		return nil, encode(err)
	}
	out, err := s.cfg.Jobs.Job(controller.JobID(r.Msg.JobId))
	var user string
	if err == nil {
		user, err = s.reads(ctx)
	}
	switch {
	case err != nil:
		return nil, encode(fmt.Errorf("get job %d: %w", r.Msg.JobId, err))
	case out == nil:
		return nil, encode(&Error{Unknown, fmt.Errorf("get job %d: it is not known: there was none, or it ended too long ago",
			r.Msg.JobId)})
	case user != "" && out.Job.User != user:
		return nil, encode(&Error{Denied, fmt.Errorf("get job %d: it is not of %q", r.Msg.JobId, user)})
	}
	out.Read = at
	if r.Msg.Explain {
		if out.WhyHere, err = s.whyHere(ctx, r); err != nil {
			return nil, encode(fmt.Errorf("get job %d: %w", r.Msg.JobId, err))
		}
	}
	return connect.NewResponse(out), nil
}

// whyHere returns what the leader's policy has said of a job: the leader is asked, unless this replica
// leads or has been asked by another.
func (s *service) whyHere(ctx context.Context, r *connect.Request[apiv1.GetJobRequest]) ([]string, error) {
	leader, _, _ := s.cfg.Finder.Leader()
	if leader == s.cfg.ID || r.Header().Get(forwarded) != "" {
		if s.cfg.Reasons == nil {
			return nil, nil
		}
		return s.cfg.Reasons(controller.JobID(r.Msg.JobId)), nil
	}
	peer := s.peer(leader)
	if peer == nil {
		return nil, &Error{NoLeader, errors.New("no leader is known")}
	}
	ask := connect.NewRequest(&apiv1.GetJobRequest{JobId: r.Msg.JobId, Explain: true})
	ask.Header().Set(forwarded, s.cfg.ID)
	resp, err := peer.GetJob(ctx, ask)
	if err != nil {
		err = decode(err)
		return nil, &Error{CodeOf(err), fmt.Errorf("ask leader %q: %w", leader, err)}
	}
	return resp.Msg.WhyHere, nil
}

// ListJobs returns a page of the jobs as this replica has them.
func (s *service) ListJobs(ctx context.Context,
	r *connect.Request[apiv1.ListJobsRequest]) (*connect.Response[apiv1.ListJobsResponse], error) {
	if s.cfg.Jobs == nil {
		return nil, encode(errNoJobs)
	}
	q, err := s.query(ctx, r.Msg)
	if err != nil {
		return nil, encode(fmt.Errorf("list jobs: %w", err))
	}
	at, err := s.wait(ctx, r.Msg.Read, r.Header().Get(forwarded) != "")
	if err != nil {
		return nil, encode(err)
	}
	page, next, err := s.cfg.Jobs.Jobs(q)
	if err != nil {
		return nil, encode(fmt.Errorf("list jobs: %w", err))
	}
	out := &apiv1.ListJobsResponse{Jobs: page, Read: at}
	if next != NoJob {
		out.NextPageToken = strconv.Itoa(int(next))
	}
	return connect.NewResponse(out), nil
}

func (s *service) query(ctx context.Context, m *apiv1.ListJobsRequest) (q JobQuery, err error) {
	if q.Filter, err = s.narrowed(ctx, m.Filter); err != nil {
		return q, err
	}
	q.Down, q.Most = m.NewestFirst, or(int(m.PageSize), defaultPage)
	if q.Most < 1 || q.Most > MaxPage {
		return q, &Error{Invalid, fmt.Errorf("a page of %d jobs: take 1 to %d", q.Most, MaxPage)}
	}
	if q.Down {
		q.From = 1<<31 - 1
	}
	if m.PageToken != "" {
		from, err := strconv.ParseUint(m.PageToken, 10, 31)
		if err != nil {
			return q, &Error{Invalid, fmt.Errorf("page token %q is none: take the one of the page before", m.PageToken)}
		}
		q.From = controller.JobID(from)
	}
	return q, nil
}

// WatchJobs streams jobs as they change.
func (s *service) WatchJobs(ctx context.Context, r *connect.Request[apiv1.WatchJobsRequest],
	to *connect.ServerStream[apiv1.JobsChanged]) error {
	if s.cfg.Jobs == nil {
		return encode(errNoJobs)
	}
	send := func(c *apiv1.JobsChanged, shared bool) error {
		if shared && !strings.HasSuffix(r.Header().Get("Content-Type"), "json") {
			c = s.told.binary(c)
		}
		return to.Send(c)
	}
	if err := s.watchJobs(ctx, r.Msg, send); err != nil {
		return encode(fmt.Errorf("watch jobs: %w", err))
	}
	return nil
}

// watchJobs hands on what its caller may read, as long as it may, and says of each message whether
// others get it too.
func (s *Server) watchJobs(ctx context.Context, m *apiv1.WatchJobsRequest,
	send func(c *apiv1.JobsChanged, shared bool) error) error {
	f, err := s.narrowed(ctx, m.Filter)
	if err != nil {
		return err
	}
	beginning := false
	user, err := s.reads(ctx)
	if err != nil {
		return err
	}
	who, may := callerOf(ctx), rules()[apiv1connect.ControllerWatchJobsProcedure].may
	return s.cfg.Jobs.WatchJobs(ctx, m.After, func(c *apiv1.JobsChanged) error {
		if now, err := s.reads(ctx); err != nil || now != user || !slices.Contains(may, s.access(who)) {
			return errTakenBack
		}
		out := filtered(f, c)
		beginning = beginning || c.Reset_
		if len(out.Jobs) == 0 && !beginning {
			return nil
		}
		shared := out == c && !beginning
		beginning = beginning && c.Index == 0
		return send(out, shared)
	})
}

// Job reads a job of any replica.
func (c *Client) Job(ctx context.Context, id controller.JobID,
	r Read) (out *apiv1.GetJobResponse, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		resp, err := to.GetJob(ctx, connect.NewRequest(&apiv1.GetJobRequest{JobId: int32(id), Read: r.proto()}))
		if err == nil {
			out = resp.Msg
		}
		return err
	})
	return out, err
}

// WhyHere returns what the leader's policy has said of a job's tasks and host flows, the earliest first.
func (c *Client) WhyHere(ctx context.Context, id controller.JobID) (out []string, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		resp, err := to.GetJob(ctx, connect.NewRequest(&apiv1.GetJobRequest{JobId: int32(id), Explain: true}))
		if err == nil {
			out = resp.Msg.WhyHere
		}
		return err
	})
	return out, err
}

// Jobs calls sink with the jobs that match, in pages, until it returns false. Where q.Read is set, each
// page is such a read.
func (c *Client) Jobs(ctx context.Context, q *apiv1.ListJobsRequest, sink func(*apiv1.JobInfo) bool) error {
	q = proto.CloneOf(q)
	for {
		var page *apiv1.ListJobsResponse
		err := c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) error {
			resp, err := to.ListJobs(ctx, connect.NewRequest(q))
			if err == nil {
				page = resp.Msg
			}
			return err
		})
		if err != nil {
			return err
		}
		for _, j := range page.Jobs {
			if !sink(j) {
				return nil
			}
		}
		if q.PageToken = page.NextPageToken; q.PageToken == "" {
			return nil
		}
	}
}

// WatchJobs calls sink with each message of a watch, until ctx ends (nil), sink fails or no replica can
// be reached for as long as the client's patience. If a replica fails, it goes on with another where
// that one was.
func (c *Client) WatchJobs(ctx context.Context, ask *apiv1.WatchJobsRequest,
	sink func(*apiv1.JobsChanged) error) error {
	ask = proto.CloneOf(ask)
	return c.follow(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) (moved bool, err error) {
		in, err := to.WatchJobs(ctx, connect.NewRequest(ask))
		if err != nil {
			return false, err
		}
		defer in.Close()
		for in.Receive() {
			m := in.Msg()
			if err := sink(m); err != nil {
				return moved, sinkError{err}
			}
			if m.Index > 0 {
				ask.After, moved = m.Index, true
			}
		}
		return moved, in.Err()
	})
}
