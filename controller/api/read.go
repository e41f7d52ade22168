package api

import (
	"context"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
)

// Read is how fresh what is read must be. The zero value takes what the replica that is asked has.
type Read struct {
	Linearizable bool   // all that was acknowledged to anybody before the call
	MinIndex     uint64 // the entry of that index
}

// ReadKind is which read an answer is of.
type ReadKind string

// The reads.
const (
	Local        ReadKind = "local"        // what the replica had
	FromIndex    ReadKind = "min_index"    // at least what the caller has named
	Linearizable ReadKind = "linearizable" // at least what was acknowledged before the call
)

// ReadAt is which read an answer is of, and an entry that is in it with all before; later ones can be.
type ReadAt struct {
	Kind  ReadKind `json:"kind"`
	Index uint64   `json:"index"`
}

// Indexer knows how far the log is.
type Indexer interface {
	// ReadIndex returns an index that covers all that was acknowledged before the call. Only the leader
	// can: the error wraps ErrNotLeader, or ErrUncertain where leadership ended meanwhile.
	ReadIndex(ctx context.Context) (uint64, error)
	// WaitApplied returns once this replica has applied an entry of at least that index.
	WaitApplied(ctx context.Context, index uint64) error
	// Applied is the index of the last entry that this replica has applied.
	Applied() uint64
}

var errNoReads = &Error{Missing, errors.New("this controller offers local reads only")}

// wait returns once this replica can answer a read. index is that of what it holds then.
func (s *service) wait(ctx context.Context, r *apiv1.Read, asked bool) (*apiv1.ReadAt, error) {
	at := &apiv1.ReadAt{Kind: string(Local)}
	need := r.GetMinIndex()
	switch {
	case s.cfg.Indexer == nil && (need > 0 || r.GetLinearizable()):
		return nil, errNoReads
	case r.GetLinearizable():
		index, err := s.readIndex(ctx, asked)
		if err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
		at.Kind, need = string(Linearizable), max(need, index)
	case need > 0:
		at.Kind = string(FromIndex)
	}
	if need > 0 {
		if err := s.cfg.Indexer.WaitApplied(ctx, need); err != nil {
			return nil, fmt.Errorf("read: %w", err)
		}
	}
	at.Index = s.applied()
	return at, nil
}

// applied is an index that what was done or waited for just now is below or at.
func (s *service) applied() uint64 {
	if s.cfg.Indexer == nil {
		return 0
	}
	return s.cfg.Indexer.Applied()
}

// readIndex asks this replica's log, or the leader.
func (s *service) readIndex(ctx context.Context, asked bool) (uint64, error) {
	index, err := s.cfg.Indexer.ReadIndex(ctx)
	if !errors.Is(err, ErrNotLeader) || asked {
		return index, err
	}
	resp, err := toLeader(s, ctx, &apiv1.ReadIndexRequest{}, apiv1connect.ControllerClient.ReadIndex)
	if err != nil {
		return 0, decode(err)
	}
	return resp.Msg.Index, nil
}

// ReadIndex answers another replica where this one leads.
func (s *service) ReadIndex(ctx context.Context,
	r *connect.Request[apiv1.ReadIndexRequest]) (*connect.Response[apiv1.ReadIndexResponse], error) {
	if s.cfg.Indexer == nil {
		return nil, encode(errNoReads)
	}
	index, err := s.readIndex(ctx, r.Header().Get(forwarded) != "")
	if err != nil {
		return nil, encode(err)
	}
	return connect.NewResponse(&apiv1.ReadIndexResponse{Index: index}), nil
}

func (r Read) proto() *apiv1.Read {
	if r == (Read{}) {
		return nil
	}
	return &apiv1.Read{Linearizable: r.Linearizable, MinIndex: r.MinIndex}
}

func readAt(m *apiv1.ReadAt) ReadAt { return ReadAt{ReadKind(m.GetKind()), m.GetIndex()} }

// Written returns the read that shows all that this client has written so far.
func (c *Client) Written() Read {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Read{MinIndex: c.written}
}

// wrote notes an index that holds what was written.
func (c *Client) wrote(index uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.written = max(c.written, index)
}

// StatusAt is Status as a read of that kind.
func (c *Client) StatusAt(ctx context.Context, r Read) (s Status, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) (err error) {
		s, err = status(ctx, to, &apiv1.StatusRequest{Read: r.proto()})
		return err
	})
	return s, err
}

// LiveStateAt is LiveState as a read of that kind.
func (c *Client) LiveStateAt(ctx context.Context, r Read) (Snapshot, error) {
	return c.state(ctx, &apiv1.StateRequest{Read: r.proto(), Live: true})
}

// StateAt is State as a read of that kind.
func (c *Client) StateAt(ctx context.Context, r Read) (Snapshot, error) {
	return c.state(ctx, &apiv1.StateRequest{Read: r.proto()})
}
