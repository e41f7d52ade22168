package target

import (
	"context"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound/gnmi/schema"
)

// LikeSONiC makes a target of SONiC's databases behave as github.com/sonic-net/sonic-gnmi does
// (mixed_db_client.go and db_client.go), where that differs from the specification: a request names one
// database, the deletion of a row is sent as that of its table, a subscription to a table that does not
// exist is fatal, and a Set is validated first.
const LikeSONiC = "sonic-gnmi"

// likeSONiC is how a target of SONiC's databases deviates.
type likeSONiC struct {
	validate func() time.Duration // how long a Set is validated; nil: no time
	turn     chan struct{}        // one token: Sets are validated one after the other
}

// oneDatabase refuses paths of several databases.
func (l *likeSONiC) oneDatabase(prefix *gpb.Path, paths ...*gpb.Path) error {
	if l == nil {
		return nil
	}
	db := ""
	for _, p := range paths {
		elems := append(append([]*gpb.PathElem{}, prefix.GetElem()...), p.GetElem()...)
		switch {
		case len(elems) == 0:
			return status.Error(codes.Unimplemented, "No target specified in path")
		case db == "":
			db = elems[0].GetName()
		case db != elems[0].GetName():
			return status.Error(codes.Unimplemented, "Target conflict in path")
		}
	}
	return nil
}

// subscribable refuses a table that holds nothing.
func (l *likeSONiC) subscribable(t *tree, p schema.Path) error {
	if l == nil || len(t.find(p)) > 0 {
		return nil
	}
	return status.Errorf(codes.InvalidArgument, "No valid entry found on %s", p)
}

// gone widens the deletion of a row to its table.
func (l *likeSONiC) gone(m *schema.Model, p schema.Path) schema.Path {
	if l == nil {
		return p
	}
	for i := range p {
		if n, err := m.Lookup(p[:i+1], false); err == nil && n.Table {
			return p[:i].With(p[i].Name)
		}
	}
	return p
}

// validated waits as long as a Set is validated.
func (l *likeSONiC) validated(ctx context.Context) error {
	if l == nil || l.validate == nil {
		return nil
	}
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
	timer := time.NewTimer(l.validate())
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return status.FromContextError(ctx.Err()).Err()
	}
}
