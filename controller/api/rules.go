package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"connectrpc.com/connect"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// replicas is the access of replicas that call for themselves. It cannot be granted.
const replicas controller.Access = "replica"

// rule is who may make a call.
type rule struct {
	may     []controller.Access
	changes bool // something: it is audited
	takes   takes
}

// eventsPath is where events are read as server-sent events.
const eventsPath = "/v1/events"

// jobsPath is where jobs are watched as server-sent events.
const jobsPath = "/v1/jobs"

// Where clients such as grpcurl learn which calls there are.
const (
	reflectionPath      = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	reflectionAlphaPath = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
)

// rules are by procedure. A call without a rule is not there for anybody.
func rules() map[string]rule {
	const viewer, tenant, operator, admin = controller.Viewer, controller.Tenant, controller.Operator, controller.Admin
	whole := []controller.Access{viewer, operator, admin} // what shows everybody's jobs
	all := []controller.Access{viewer, tenant, operator, admin}
	read, page, watch := rule{may: all}, rule{may: all, takes: aPage}, rule{may: all, takes: aWatch}
	job := rule{may: append(slices.Clone(all), replicas)} // replicas ask the leader for its policy's reasons
	owners := []controller.Access{tenant, operator, admin}
	change := rule{may: owners, changes: true}
	return map[string]rule{
		apiv1connect.ControllerStatusProcedure:    {may: append(slices.Clone(all), replicas)},
		apiv1connect.ControllerBandwidthProcedure: read,
		// replicas too: for a backup by a replica's keys
		apiv1connect.ControllerStateProcedure:       {may: append(slices.Clone(whole), replicas), takes: aWatch},
		apiv1connect.ControllerEventsProcedure:      {may: whole, takes: aWatch},
		eventsPath:                                  {may: whole, takes: aWatch},
		jobsPath:                                    watch,
		reflectionPath:                              watch,
		reflectionAlphaPath:                         watch,
		apiv1connect.ControllerGetFabricProcedure:   page,
		apiv1connect.ControllerApplyFabricProcedure: {may: []controller.Access{operator, admin}, changes: true},
		apiv1connect.ControllerGetJobProcedure:      job, // a tenant its own, as in the next two: see Server.reads
		apiv1connect.ControllerListJobsProcedure:    page,
		apiv1connect.ControllerWatchJobsProcedure:   watch,
		apiv1connect.ControllerSubmitJobsProcedure:  {may: owners, changes: true, takes: aBatch},
		apiv1connect.ControllerReserveProcedure:     change,
		apiv1connect.ControllerReleaseProcedure:     change, // a tenant its own: see owning
		apiv1connect.ControllerCancelProcedure:      change, // likewise
		apiv1connect.ControllerCheckWiringProcedure: read,
		apiv1connect.ControllerListLeasesProcedure:  read,
		apiv1connect.ControllerWireProcedure:        change, // a tenant under its own name: see service.Wire
		apiv1connect.ControllerSetAccessProcedure:   {may: []controller.Access{admin}, changes: true},
		apiv1connect.ControllerListAccessProcedure:  {may: []controller.Access{operator, admin}},
		apiv1connect.ControllerReadIndexProcedure:   {may: []controller.Access{replicas}},
		apiv1connect.ControllerMembersProcedure:     {may: append(slices.Clone(whole), replicas)},
		// replicas introduce and promote themselves: see allowChange
		apiv1connect.ControllerChangeMembersProcedure: {may: []controller.Access{admin, replicas},
			changes: true},
		// a tenant its own: see Server.reads
		apiv1connect.ControllerListReservationsProcedure: page,
		apiv1connect.ControllerListSlicesProcedure:       page,
		apiv1connect.ControllerGetSliceProcedure:         read,
		apiv1connect.ControllerWatchSlicesProcedure:      watch,
		apiv1connect.ControllerCreateSliceProcedure:      change,
		apiv1connect.ControllerDefragmentSlicesProcedure: {may: []controller.Access{operator, admin}, changes: true},
		apiv1connect.ControllerDeleteSliceProcedure:      change, // a tenant its own: see ownSlices
	}
}

// admit lets a call in if its caller may make it. It stands before the body is read.
func (s *Server) admit(next http.Handler) http.Handler {
	all := rules()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rule, known := all[r.URL.Path]
		if !known {
			http.NotFound(w, r)
			return
		}
		who, err := s.caller(r)
		if err != nil {
			err = &Error{Denied, fmt.Errorf("%s: %w", r.URL.Path, err)}
		} else {
			err = s.may(r.Context(), who, r.URL.Path, rule)
		}
		if err != nil {
			s.denied(who, r.URL.Path, err)
			_ = connect.NewErrorWriter().Write(w, r, encode(err)) // the caller has gone
			return
		}
		s.take(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, who)), rule.takes, who, next)
	})
}

// catchUp bounds how long a replica tries to learn of newer grants before it denies a call.
const catchUp = 2 * time.Second

// may returns why a caller may not make a call, or nil. A replica that knows of no grant first takes in
// all that was acknowledged before, since the grant may be on its way to it.
func (s *Server) may(ctx context.Context, c Caller, path string, r rule) error {
	has := s.access(c)
	if slices.Contains(r.may, has) {
		return nil
	}
	if c.Kind == byReplica && c.Via != "" {
		return &Error{NotLeader, fmt.Errorf("%s: replica %q does not say for whom it forwards: it is of an earlier version",
			path, c.Name)}
	}
	if c.Kind == byClient && s.cfg.Indexer != nil {
		ctx, cancel := context.WithTimeout(ctx, catchUp)
		defer cancel()
		if _, err := (&service{s}).wait(ctx, &apiv1.Read{Linearizable: true}, c.Via != ""); err != nil {
			return &Error{NoLeader, fmt.Errorf("%s: learn what %s may do: %w", path, c, err)}
		}
		if has = s.access(c); slices.Contains(r.may, has) {
			return nil
		}
	}
	if has == "" {
		return &Error{Denied, fmt.Errorf("%s: nothing is granted to %s: an admin types: lightloom cluster access grant %s %s",
			path, c, c.Name, controller.Tenant)}
	}
	return &Error{Denied, fmt.Errorf("%s: %s is %s, and one of %v may", path, c, has, r.may)}
}

// owning has tenants change what is theirs alone. A tenant's jobs and reservations have its name.
type owning struct {
	*Server
	submitter Submitter
	canceller Canceller
	reserver  BandwidthReserver
}

// tenant returns the name of a caller that may change its own alone; false of one that may change anything.
func (o owning) tenant(ctx context.Context) (string, bool) {
	c := callerOf(ctx)
	return c.Name, !slices.Contains([]controller.Access{controller.Operator, controller.Admin}, o.access(c))
}

// own returns the name that a tenant's job or reservation has.
func own(tenant, said string) (string, error) {
	if said != "" && said != tenant {
		return "", &Error{Denied, fmt.Errorf("for %q: you are %q", said, tenant)}
	}
	return tenant, nil
}

// Submit implements Submitter.
func (o owning) Submit(ctx context.Context, offers []controller.Offer) (ids []controller.JobID, err error) {
	name, tenant := o.tenant(ctx)
	for i := range offers {
		if !tenant {
			break
		}
		if offers[i].Job.User, err = own(name, offers[i].Job.User); err != nil {
			return nil, err
		}
	}
	if ids, err = o.submitter.Submit(ctx, offers); err != nil || !tenant {
		return ids, err
	}
	for _, id := range ids { // a request id that another has used is answered with the other's jobs
		if err := o.theirs(name, "job", int64(id)); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// theirs returns an error unless a job or reservation is known to be a tenant's.
func (o owning) theirs(tenant, what string, id int64) error {
	owner, known := "", false
	switch owners := o.cfg.Callers.Owners; {
	case owners == nil:
	case what == "job":
		owner, known = owners.JobOwner(controller.JobID(id))
	default:
		owner, known = owners.BandwidthOwner(id)
	}
	switch {
	case known && owner == tenant:
		return nil
	case known:
		return &Error{Denied, fmt.Errorf("%s %d is not of %q", what, id, tenant)}
	}
	if leader, _, _ := o.cfg.Finder.Leader(); leader != o.cfg.ID { // that one knows
		return fmt.Errorf("%s %d: %w", what, id, ErrNotLeader)
	}
	return &Error{Invalid, fmt.Errorf("no %s %d of %q is known", what, id, tenant)}
}

// Cancel implements Canceller.
func (o owning) Cancel(ctx context.Context, id controller.JobID) (Ended, error) {
	if name, tenant := o.tenant(ctx); tenant {
		if err := o.theirs(name, "job", int64(id)); err != nil {
			return Ended{}, err
		}
	}
	return o.canceller.Cancel(ctx, id)
}

// Bandwidths implements BandwidthReserver.
func (o owning) Bandwidths(ctx context.Context, pairs []HostPair) ([]Bandwidth, error) {
	return o.reserver.Bandwidths(ctx, pairs)
}

// Reserve implements BandwidthReserver.
func (o owning) Reserve(ctx context.Context, w BandwidthRequest) (p BandwidthReservation, err error) {
	name, tenant := o.tenant(ctx)
	if tenant {
		if w.Owner, err = own(name, w.Owner); err != nil {
			return p, err
		}
	}
	if p, err = o.reserver.Reserve(ctx, w); err == nil && tenant {
		if err := o.theirs(name, "reservation", p.ID); err != nil {
			return BandwidthReservation{}, err
		}
	}
	return p, err
}

// Reservations implements BandwidthReserver.
func (o owning) Reservations(owner string, from int64, most int) ([]*apiv1.Reservation, int64) {
	return o.reserver.Reservations(owner, from, most)
}

// Release implements BandwidthReserver.
func (o owning) Release(ctx context.Context, id int64) error {
	if name, tenant := o.tenant(ctx); tenant {
		if err := o.theirs(name, "reservation", id); err != nil {
			return err
		}
	}
	return o.reserver.Release(ctx, id)
}

// entitled ends a stream of events once its caller may no longer read it.
type entitled struct {
	*Server
	events Eventer
}

// Events implements Eventer.
func (w entitled) Events(ctx context.Context, after uint64, sink func(Event) error) error {
	who := callerOf(ctx)
	may := rules()[apiv1connect.ControllerEventsProcedure].may
	return w.events.Events(ctx, after, func(e Event) error {
		if !slices.Contains(may, w.access(who)) {
			return errTakenBack
		}
		return sink(e)
	})
}
