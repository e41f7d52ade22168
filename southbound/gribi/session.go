package gribi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	spb "github.com/openconfig/gribi/v1/proto/service"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// Config is how to reach a switch's gRIBI server.
type Config struct {
	gnmi.Config // Name, Addr, TLS, Plaintext, Login, Election, Timeout, Keepalive and MaxBytes count
	Names       Names
}

const (
	defaultTimeout = 5 * time.Second
	perRequest     = 1024 // operations
	maxEntries     = 1 << 20
)

// Session programs one switch. It is safe for several goroutines: changes go out one after the other,
// in the order of the calls, each on a stream of its own: entries stay when a stream ends.
type Session struct {
	cfg    Config
	conn   *grpc.ClientConn
	client spb.GRIBIClient
	turn   chan struct{} // one token: the queue of changes

	mu    sync.Mutex
	known *table                               // what the switch holds, as last read or answered; nil: it must be read
	small uint64                               // the election id of a session without an election
	noFIB bool                                 // the switch confirms no more than its RIB
	asked map[southbound.Match]southbound.Rule // with backups that the switch does not know
}

// Dial connects to a switch, and reads its entries once. ctx bounds Dial, not the session.
func Dial(ctx context.Context, cfg Config) (*Session, error) {
	fail := func(err error) (*Session, error) {
		return nil, fmt.Errorf("dial gRIBI of device %q at %s: %w", cfg.Name, cfg.Addr, err)
	}
	conn, err := gnmi.Connect(cfg.Config)
	if err != nil {
		return fail(err)
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	s := &Session{cfg: cfg, conn: conn, client: spb.NewGRIBIClient(conn), turn: make(chan struct{}, 1),
		asked: map[southbound.Match]southbound.Rule{}}
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if _, err := s.read(ctx); err != nil {
		return fail(errors.Join(err, conn.Close()))
	}
	return s, nil
}

// Close ends the session.
func (s *Session) Close() error { return s.conn.Close() }

func (s *Session) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.cfg.Timeout)
}

// Rules returns the rules that the switch's entries are, sorted by match.
func (s *Session) Rules(ctx context.Context) ([]southbound.Rule, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	t, err := s.read(ctx)
	if err != nil {
		return nil, fmt.Errorf("read device %q by gRIBI: %w", s.cfg.Name, err)
	}
	out := t.sorted()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range out {
		if a, ok := s.asked[r.Match]; ok && a.Primary == r.Primary && s.cfg.Names.NoBackups {
			out[i].Backup = a.Backup
		}
	}
	return out, nil
}

// read reads all entries.
func (s *Session) read(ctx context.Context) (*table, error) {
	entries, err := Get(ctx, s.client)
	if err != nil {
		return nil, explain(err)
	}
	t, err := s.cfg.Names.read(entries)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = t
	return t, nil
}

// Get returns the entries of all network instances.
func Get(ctx context.Context, c spb.GRIBIClient) ([]*spb.AFTEntry, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	everything := &spb.GetRequest{NetworkInstance: &spb.GetRequest_All{All: &spb.Empty{}},
		Aft: spb.AFTType_ALL}
	stream, err := c.Get(ctx, everything, grpc.WaitForReady(true))
	if err != nil {
		return nil, err
	}
	var out []*spb.AFTEntry
	for {
		resp, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return nil, err
		}
		if out = append(out, resp.GetEntry()...); len(out) > maxEntries {
			return nil, fmt.Errorf("the device sends more than %d entries", maxEntries)
		}
	}
}

// inTurn does something once those called before have ended.
func (s *Session) inTurn(ctx context.Context, what string, do func(context.Context) error) error {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	err := ctx.Err()
	if err == nil {
		select {
		case s.turn <- struct{}{}:
			defer func() { <-s.turn }()
			err = do(ctx)
		case <-ctx.Done():
			err = fmt.Errorf("wait for earlier changes: %w", ctx.Err())
		}
	}
	if err != nil {
		return fmt.Errorf("%s device %q by gRIBI: %w", what, s.cfg.Name, explain(err))
	}
	return nil
}

// Set programs a change. gRIBI knows no transactions: where the switch refuses a part, what it has
// taken is undone, and packets may have seen it. An error that wraps none of southbound's sentinels
// leaves it open what the switch holds.
func (s *Session) Set(ctx context.Context, c *southbound.Change) error {
	return s.inTurn(ctx, "set", func(ctx context.Context) error { return s.set(ctx, c) })
}

func (s *Session) set(ctx context.Context, c *southbound.Change) error {
	if c.Empty() {
		return s.claim(ctx)
	}
	s.mu.Lock()
	before := s.known
	s.mu.Unlock()
	if before == nil {
		var err error
		if before, err = s.read(ctx); err != nil {
			return err
		}
	}
	p, err := s.cfg.Names.plan(before, c)
	if err != nil {
		return err
	}
	if err = s.modify(ctx, p.ops); err == nil {
		s.learn(&p.after, c.Rules...)
		return nil
	}
	s.learn(nil)
	if failed := (*failure)(nil); !errors.As(err, &failed) {
		return err
	}
	if uerr := s.restore(ctx, before); uerr != nil {
		return fmt.Errorf("a part was refused (%v), and the rest is not undone: %w", err, uerr) //nolint:errorlint // see Set
	}
	return fmt.Errorf("%w: %w", err, southbound.ErrRefused)
}

// learn notes what the switch holds, nil for what is to be read, and what it was asked for.
func (s *Session) learn(t *table, asked ...southbound.Rule) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known = t
	for _, r := range asked {
		s.asked[r.Match] = r
	}
}

// restore brings back the rules of before.
func (s *Session) restore(ctx context.Context, before *table) error {
	now, err := s.read(ctx)
	if err != nil {
		return err
	}
	c := &southbound.Change{}
	for _, r := range before.sorted() {
		if now.rules[r.Match] != r {
			c.Rules = append(c.Rules, r)
		}
	}
	for m := range now.stands {
		if _, stood := before.rules[m]; !stood {
			c.Drop = append(c.Drop, m)
		}
	}
	p, err := s.cfg.Names.plan(now, c)
	if err != nil {
		return err
	}
	if err := s.modify(ctx, p.ops); errors.Is(err, southbound.ErrNotLeader) {
		return err
	} else if err != nil {
		s.learn(nil)
		return errors.New(err.Error()) // what stands is open now, whatever was refused
	}
	s.learn(&p.after)
	return nil
}

// Claim implements southbound.Claiming: the switch takes operations of the client with the largest
// election id. What it holds may be another's until then.
func (s *Session) Claim(ctx context.Context) error {
	return s.inTurn(ctx, "claim", s.claim)
}

func (s *Session) claim(ctx context.Context) error {
	s.learn(nil)
	return s.modify(ctx, nil)
}

// election is the id of this client. One without an election has a small one, and yields to every
// controller: those have ids with a high half.
func (s *Session) election() *spb.Uint128 {
	if s.cfg.Election == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		return &spb.Uint128{Low: max(s.small, 1)}
	}
	id := s.cfg.Election()
	return &spb.Uint128{High: id.High, Low: id.Low}
}

// modify claims the switch and has it do operations, on one stream. It returns once all are answered.
func (s *Session) modify(ctx context.Context, ops []*spb.AFTOperation) error {
	s.mu.Lock()
	ack := spb.SessionParameters_RIB_AND_FIB_ACK
	if s.noFIB {
		ack = spb.SessionParameters_RIB_ACK
	}
	s.mu.Unlock()
	err := s.stream(ctx, ops, ack)
	if d := (*deposed)(nil); s.cfg.Election == nil && errors.As(err, &d) && d.largest.GetHigh() == 0 {
		s.mu.Lock()
		s.small = d.largest.GetLow() + 1 // of one like this one, before it
		s.mu.Unlock()
		err = s.stream(ctx, ops, ack)
	}
	code := status.Code(err)
	if ack == spb.SessionParameters_RIB_ACK || code != codes.FailedPrecondition &&
		code != codes.Unimplemented {
		return err
	}
	if err := s.stream(ctx, ops, spb.SessionParameters_RIB_ACK); err != nil { // it was refused before any operation
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noFIB = true
	return nil
}

func (s *Session) stream(ctx context.Context, ops []*spb.AFTOperation,
	ack spb.SessionParameters_AFTResultStatusType) error {
	ctx, cancel := context.WithCancel(ctx)
	stream, err := s.client.Modify(ctx)
	if err != nil {
		cancel()
		return err
	}
	id := s.election()
	sent := make(chan struct{})
	go func() { // beside the answers: neither side waits for the other
		defer close(sent)
		send(stream, id, ops, ack)
	}()
	defer func() { cancel(); <-sent }()
	a := newAnswers(id, ops, ack)
	for !a.done() {
		resp, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF):
			return errors.New("the stream ended before all operations were answered")
		case err != nil:
			return err
		}
		if err := a.take(resp); err != nil {
			return err
		}
	}
	return a.err()
}

// send sends what a stream is for. Where it fails, the stream's answers say why.
func send(stream spb.GRIBI_ModifyClient, id *spb.Uint128, ops []*spb.AFTOperation,
	ack spb.SessionParameters_AFTResultStatusType) {
	all := []*spb.ModifyRequest{
		{Params: &spb.SessionParameters{Redundancy: spb.SessionParameters_SINGLE_PRIMARY,
			Persistence: spb.SessionParameters_PRESERVE, AckType: ack}},
		{ElectionId: id},
	}
	for _, op := range ops {
		op.ElectionId = id
	}
	for part := range slices.Chunk(ops, perRequest) {
		all = append(all, &spb.ModifyRequest{Operation: part})
	}
	for _, r := range all {
		if stream.Send(r) != nil {
			return
		}
	}
}

// explain adds the sentinel that a status code stands for.
func explain(err error) error {
	switch status.Code(err) {
	case codes.Unimplemented:
		return fmt.Errorf("%w: %w: %w", err, southbound.ErrUnsupported, southbound.ErrRefused)
	case codes.InvalidArgument, codes.FailedPrecondition:
		return fmt.Errorf("%w: %w", err, southbound.ErrRefused)
	}
	return err
}
