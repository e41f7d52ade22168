package api

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/controller/tracing"
	"lightloom/southbound/pki"
)

// Client calls any replica that answers, and retries while there is no leader. Its methods can be
// called by several goroutines.
type Client struct {
	Patience time.Duration // of a call whose context has no deadline
	Attempt  time.Duration // of one attempt at one replica

	http    *http.Client
	addrs   []string // of callers; empty where they are not dialled by address
	callers []apiv1connect.ControllerClient

	mu      sync.Mutex
	last    int    // the replica that answered last
	written uint64 // index that holds all that was written
}

// Defaults of a Client.
const (
	DefaultPatience = 30 * time.Second
	DefaultAttempt  = 5 * time.Second
)

// pauses between rounds in which no replica could help.
const (
	firstPause = 20 * time.Millisecond
	lastPause  = 300 * time.Millisecond
)

// maxMessage bounds what a client takes in one message, and maxState the state in all.
const (
	maxMessage = 4 << 20
	maxState   = 1 << 30
)

// Dial returns a client of the replicas at those addresses (host:port). Nothing is sent before the
// first call.
func Dial(addrs []string, cfg *tls.Config) (*Client, error) {
	if len(addrs) == 0 {
		return nil, &Error{Invalid, errors.New("dial controller: no address is given")}
	}
	if cfg == nil {
		return nil, &Error{Invalid, errors.New("dial controller: no TLS identity is given")}
	}
	c := &Client{Patience: DefaultPatience, Attempt: DefaultAttempt, http: httpClient(cfg)}
	for _, a := range addrs {
		if _, _, err := net.SplitHostPort(a); err != nil {
			return nil, &Error{Invalid, fmt.Errorf("dial controller %q: write host:port: %w", a, err)}
		}
		c.addrs, c.callers = append(c.addrs, a), append(c.callers, newCaller(c.http, "https://"+a))
	}
	return c, nil
}

func httpClient(cfg *tls.Config) *http.Client {
	h := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	if h.Transport = newTransport(cfg); cfg.GetClientCertificate != nil {
		h.Transport = &renewing{cfg: cfg}
	}
	return h
}

// renewing opens new connections once the client's certificate has changed, and lets calls under way
// end on the old ones: the old certificate may be revoked soon.
type renewing struct {
	cfg *tls.Config

	mu    sync.Mutex
	shown []byte // the certificate of now's connections
	now   *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (r *renewing) RoundTrip(q *http.Request) (*http.Response, error) {
	c, err := r.cfg.GetClientCertificate(&tls.CertificateRequestInfo{})
	if err != nil || len(c.Certificate) == 0 {
		return nil, errors.Join(errors.New("no certificate to show"), err)
	}
	r.mu.Lock()
	old := r.now
	if r.now == nil || !bytes.Equal(r.shown, c.Certificate[0]) {
		r.shown, r.now = c.Certificate[0], newTransport(r.cfg)
	}
	now := r.now
	r.mu.Unlock()
	if old != nil && old != now {
		old.CloseIdleConnections()
	}
	return now.RoundTrip(q)
}

// CloseIdleConnections is what http.Client calls.
func (r *renewing) CloseIdleConnections() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.now != nil {
		r.now.CloseIdleConnections()
	}
}

func newTransport(cfg *tls.Config) *http.Transport {
	t := &http.Transport{
		IdleConnTimeout:   time.Minute,
		ForceAttemptHTTP2: true,
		// a peer that is dead or stopped ends a silent stream, and another replica is asked
		HTTP2: &http.HTTP2Config{SendPingTimeout: 500 * time.Millisecond, PingTimeout: time.Second},
	}
	t.DialTLSContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		c := cfg.Clone()
		if c.NextProtos = []string{"http/1.1"}; t.ForceAttemptHTTP2 {
			c.NextProtos = []string{"h2", "http/1.1"}
		}
		return dialTLS(ctx, c, network, addr)
	}
	return t
}

// Bounds of opening a connection.
const (
	connectWithin   = 2 * time.Second
	handshakeWithin = 3 * time.Second
)

// dialTLS dials a server whose certificate is good for the host that is dialled. A configuration that
// verifies servers itself, as one of pki.Source does, cannot know the host.
func dialTLS(ctx context.Context, cfg *tls.Config, network, addr string) (net.Conn, error) {
	if cfg.ServerName == "" {
		host, _, err := net.SplitHostPort(addr)
		if err != nil {
			return nil, err
		}
		cfg.ServerName = host
	}
	raw, err := (&net.Dialer{Timeout: connectWithin}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeWithin)
	defer cancel()
	c := tls.Client(raw, cfg)
	if err = c.HandshakeContext(ctx); err == nil {
		err = pki.CheckHost(c.ConnectionState(), cfg.ServerName)
	}
	if err != nil {
		return nil, errors.Join(err, raw.Close())
	}
	return c, nil
}

func newCaller(h *http.Client, base string, opts ...connect.ClientOption) apiv1connect.ControllerClient {
	return apiv1connect.NewControllerClient(h, base, append(opts, connect.WithReadMaxBytes(maxMessage))...)
}

// DialLocal returns a client of the replica of this machine that listens at a Unix socket. Its callers
// are admins if they are the replica's user or root.
func DialLocal(path string) *Client {
	return DialThrough(func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{Timeout: connectWithin}).DialContext(ctx, "unix", path)
	})
}

// Close ends idle connections. The client is not used afterwards.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// NewRequestID returns a random id that no other request has.
func NewRequestID() string { return rand.Text() }

// submitPace is how many bytes of a batch a busy cluster takes in a second at least. An attempt that ends
// before that would be repeated in vain, and cost all replicas as much again.
const submitPace = 64 << 10

// Submit submits a batch of jobs and returns their ids once all are in the replicated log. It retries
// across elections until ctx or its own patience ends; request keeps the batch from being accepted
// twice. After any error the same request can be submitted again.
func (c *Client) Submit(ctx context.Context, request string,
	jobs []*controller.Job) ([]controller.JobID, error) {
	m := &apiv1.SubmitJobsRequest{RequestId: request}
	for _, j := range jobs {
		m.Jobs = append(m.Jobs, jobToWire(j))
	}
	var ids []controller.JobID
	attempt := c.Attempt
	if attempt > 0 {
		attempt += time.Duration(proto.Size(m)) * time.Second / submitPace
	}
	err := c.tryFor(ctx, attempt, func(ctx context.Context, to apiv1connect.ControllerClient) error {
		q := connect.NewRequest(m)
		tracing.Carry(ctx, q.Header())
		r, err := to.SubmitJobs(ctx, q)
		if err != nil {
			return err
		}
		if len(r.Msg.JobIds) != len(jobs) {
			return fmt.Errorf("submit jobs: %d ids came back for %d jobs", len(r.Msg.JobIds), len(jobs))
		}
		c.wrote(r.Msg.Index)
		for _, id := range r.Msg.JobIds {
			ids = append(ids, controller.JobID(id))
		}
		return nil
	})
	return ids, err
}

// Status is what one replica reports of itself.
type Status struct {
	Replica       string
	Leader        string // empty while unknown
	LeaderAddress string // northbound
	Term          uint64
	LeaderChanges int
	Ready         bool          // it leads, and decides on jobs at once
	Now           time.Duration // of the run
	Counts
	Digest [32]byte // of the state after the entry of Index, where it was asked for
	Read   ReadAt
	// how far it takes part since it started, and what it waits for or why it learns; empty: its version
	// does not tell
	Standing, StandingReason string
	Troubles                 string // what it has seen of others: gone back in time, or apart
}

// Status calls the replica that answered last, or another one.
func (c *Client) Status(ctx context.Context) (Status, error) { return c.StatusAt(ctx, Read{}) }

// StatusOf calls the i-th of the addresses given to Dial, once.
func (c *Client) StatusOf(ctx context.Context, i int) (Status, error) {
	return c.statusOf(ctx, i, &apiv1.StatusRequest{})
}

// DigestOf is StatusOf with the digest of the replica's state, for which it makes a snapshot.
func (c *Client) DigestOf(ctx context.Context, i int) (Status, error) {
	return c.statusOf(ctx, i, &apiv1.StatusRequest{Digest: true})
}

func (c *Client) statusOf(ctx context.Context, i int, ask *apiv1.StatusRequest) (Status, error) {
	ctx, cancel := context.WithTimeout(ctx, c.Attempt)
	defer cancel()
	s, err := status(ctx, c.callers[i], ask)
	if err != nil {
		return s, decode(err)
	}
	return s, nil
}

func status(ctx context.Context, to apiv1connect.ControllerClient,
	ask *apiv1.StatusRequest) (Status, error) {
	r, err := to.Status(ctx, connect.NewRequest(ask))
	if err != nil {
		return Status{}, err
	}
	m := r.Msg
	s := Status{
		Replica: m.Replica, Leader: m.Leader, LeaderAddress: m.LeaderAddress, Term: m.Term,
		LeaderChanges: int(m.LeaderChanges), Ready: m.Ready, Now: time.Duration(m.NowNs),
		Counts: Counts{
			Index: m.AppliedIndex, Jobs: int(m.Jobs), JobsEnded: int(m.JobsEnded),
			Coflows: int(m.Coflows), CoflowEnded: int(m.CoflowsEnded),
		},
		Read: readAt(m.Read), Standing: m.Standing, StandingReason: m.StandingReason,
		Troubles: strings.Join(m.Troubles, "; "),
	}
	if copy(s.Digest[:], m.Digest); ask.Digest && len(m.Digest) != len(s.Digest) {
		return s, fmt.Errorf("read status: a digest of %d bytes", len(m.Digest))
	}
	return s, nil
}

// State reads the replicated state of one replica, with the jobs that have left it since they ended.
func (c *Client) State(ctx context.Context) (Snapshot, error) {
	return c.state(ctx, &apiv1.StateRequest{})
}

// LiveState reads the replicated state of one replica.
func (c *Client) LiveState(ctx context.Context) (Snapshot, error) { return c.LiveStateAt(ctx, Read{}) }

func (c *Client) state(ctx context.Context, ask *apiv1.StateRequest) (s Snapshot, err error) {
	err = c.try(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) (err error) {
		s, err = readState(ctx, to, ask)
		return err
	})
	return s, err
}

func readState(ctx context.Context, from apiv1connect.ControllerClient,
	ask *apiv1.StateRequest) (Snapshot, error) {
	in, err := from.State(ctx, connect.NewRequest(ask))
	if err != nil {
		return Snapshot{}, err
	}
	defer in.Close()
	var s Snapshot
	size := int64(-1)
	for in.Receive() {
		m := in.Msg()
		if size < 0 {
			if size = m.Size; size < 0 || size > maxState || len(m.Digest) != len(s.Digest) {
				return s, fmt.Errorf("read state: announces %d bytes and a digest of %d, at most %d bytes are taken", size,
					len(m.Digest), maxState)
			}
			s.Index, s.Read = m.Index, readAt(m.Read)
			copy(s.Digest[:], m.Digest)
		}
		if s.JSON = append(s.JSON, m.Data...); int64(len(s.JSON)) > size {
			return s, fmt.Errorf("read state: more than the %d bytes announced", size)
		}
	}
	if err := in.Err(); err != nil {
		return s, err
	}
	if int64(len(s.JSON)) != size {
		return s, connect.NewError(connect.CodeUnavailable,
			fmt.Errorf("read state: it broke off after %d of %d bytes",
				len(s.JSON), size))
	}
	return s, nil
}

// Events calls sink with every event above after, in order and each once, until ctx ends (nil), sink
// fails or no replica can be reached for as long as the client's patience. If a replica fails, it
// continues with another.
func (c *Client) Events(ctx context.Context, after uint64, sink func(Event) error) error {
	return c.follow(ctx, func(ctx context.Context, to apiv1connect.ControllerClient) (moved bool, err error) {
		in, err := to.Events(ctx, connect.NewRequest(&apiv1.EventsRequest{After: after}))
		if err != nil {
			return false, err
		}
		defer in.Close()
		for in.Receive() {
			e := eventFromWire(in.Msg())
			if e.Seq <= after {
				continue
			}
			if err := sink(e); err != nil {
				return moved, sinkError{err}
			}
			after, moved = e.Seq, true
		}
		return moved, in.Err()
	})
}

// sinkError marks a listener's own error, as opposed to a replica's.
type sinkError struct{ error }

// follow reads streams one after the other, each going on where the one before has ended. read reports
// whether it got further: a break after that is no error.
func (c *Client) follow(ctx context.Context,
	read func(context.Context, apiv1connect.ControllerClient) (moved bool, err error)) error {
	for {
		moved := false
		err := c.tryFor(ctx, 0, func(ctx context.Context, to apiv1connect.ControllerClient) (err error) {
			var stop sinkError
			if moved, err = read(ctx, to); moved && !errors.As(err, &stop) {
				err = nil
			}
			return err
		})
		var stop sinkError
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.As(err, &stop):
			return stop.error
		case err != nil:
			return err
		case !moved: // it ended without a word: do not spin
			if !sleep(ctx, lastPause) {
				return nil
			}
		}
	}
}

type call func(context.Context, apiv1connect.ControllerClient) error

// try makes attempts until one succeeds, fails for good, or time is over.
func (c *Client) try(ctx context.Context, do call) error { return c.tryFor(ctx, c.Attempt, do) }

// tryFor is try with another bound on one attempt; 0 is none.
func (c *Client) tryFor(ctx context.Context, attempt time.Duration, do call) error {
	c.mu.Lock()
	first := c.last
	c.mu.Unlock()
	patience, cancel := c.patience(ctx)
	defer cancel()
	for pause, k := firstPause, 0; ; k++ {
		i := (first + k) % len(c.callers)
		err := c.attempt(ctx, attempt, c.callers[i], do)
		if err == nil {
			c.mu.Lock()
			c.last = i
			c.mu.Unlock()
			return nil
		}
		if !worthRetrying(ctx, err) {
			return err
		}
		if i == (first+len(c.callers)-1)%len(c.callers) { // all have been asked
			if !sleep(patience, pause) {
				return &Error{CodeOf(err), fmt.Errorf("controller at %d addresses, %d attempts: %w",
					len(c.callers), k+1, err)}
			}
			pause = min(2*pause, lastPause)
		}
	}
}

// patience sets a deadline on a call that has none.
func (c *Client) patience(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, c.Patience)
}

func (c *Client) attempt(ctx context.Context, within time.Duration,
	to apiv1connect.ControllerClient, do call) error {
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	err := do(ctx, to)
	var stop sinkError
	if err == nil || errors.As(err, &stop) {
		return err
	}
	return decode(err)
}

// worthRetrying reports whether another attempt can succeed. While the caller still waits, a timeout or
// cancellation is that of an attempt, or of a replica that is stopping.
func worthRetrying(ctx context.Context, err error) bool {
	code := CodeOf(err)
	return ctx.Err() == nil && (code.answer().again || code == Late || code == Canceled)
}

// sleep waits; false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
