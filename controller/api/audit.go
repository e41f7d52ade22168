package api

import (
	"context"
	"fmt"
	"path"
	"time"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
)

// AuditRecord is one call that changed something, was refused to, or was denied. It holds no secret and
// no more of a request than names what it was about.
type AuditRecord struct {
	At     time.Time `json:"at"`
	Caller string    `json:"caller"`          // kind/name; empty: it is not known who
	Via    string    `json:"via,omitempty"`   // the replica that has forwarded it
	Call   string    `json:"call"`            // such as Cancel
	What   string    `json:"what,omitempty"`  // such as "job 3"
	Result string    `json:"result"`          // ok, or the error's code
	Index  uint64    `json:"index,omitempty"` // of the log, that it is in or below
}

func (s *Server) audit(r AuditRecord) {
	if s.cfg.Callers.Audit != nil {
		r.At = time.Now()
		s.cfg.Callers.Audit(r)
	}
}

func (s *Server) denied(who Caller, procedure string, err error) {
	name := ""
	if who.Kind != "" {
		name = who.String()
	}
	s.answered(procedure, 0, err)
	s.audit(AuditRecord{Caller: name, Via: who.Via, Call: path.Base(procedure), Result: string(CodeOf(err))})
}

// auditor records calls that change something, once they have been answered.
func (s *Server) auditor() connect.UnaryInterceptorFunc {
	all := rules()
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			out, err := next(ctx, r)
			if !all[r.Spec().Procedure].changes {
				return out, err
			}
			who := callerOf(ctx)
			a := AuditRecord{Caller: who.String(), Via: who.Via, Call: path.Base(r.Spec().Procedure),
				What:   about(r.Any()),
				Result: "ok"}
			if err != nil {
				a.Result = string(CodeOf(decode(err)))
			} else if m, ok := out.Any().(interface{ GetIndex() uint64 }); ok {
				a.Index = m.GetIndex()
			}
			s.audit(a)
			return out, err
		}
	}
}

// maxAbout bounds what a record says of a request.
const maxAbout = 256

// about names what a request is about.
func about(m any) string {
	text := ""
	switch m := m.(type) {
	case *apiv1.SubmitJobsRequest:
		text = fmt.Sprintf("%d jobs, request %s", len(m.Jobs), m.RequestId)
	case *apiv1.CancelRequest:
		text = fmt.Sprintf("job %d", m.JobId)
	case *apiv1.ReserveRequest:
		text = fmt.Sprintf("%d bit/s from %s to %s for %s, request %s", m.Rate, m.GetPair().GetSrc(),
			m.GetPair().GetDst(),
			m.Owner, m.RequestId)
	case *apiv1.ReleaseRequest:
		text = fmt.Sprintf("reservation %d", m.Id)
	case *apiv1.ApplyFabricRequest:
		text = fmt.Sprintf("dry run %v, policy %q, drained %q, removed %q, devices %q", m.DryRun,
			m.GetFabric().GetPolicy(), m.GetFabric().GetDrained().GetNames(), m.GetFabric().GetRemoved().GetNames(),
			m.GetFabric().GetDevices())
	case *apiv1.SetAccessRequest:
		text = fmt.Sprintf("%s is %q", m.GetGrant().GetName(), m.GetGrant().GetAccess())
	}
	return text[:min(len(text), maxAbout)]
}
