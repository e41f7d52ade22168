package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"
	"connectrpc.com/grpcreflect"
	"go.opentelemetry.io/otel/trace"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/controller/tracing"
	"lightloom/southbound/guard"
	"lightloom/southbound/pki"
)

// Config configures a Server.
type Config struct {
	ID        string                 // of this replica
	Peers     map[string]string      // northbound addresses of replicas, by id
	Address   func(id string) string // of those that are not among Peers; nil: there are none
	Listener  net.Listener           // taken over; closed when Run ends
	ServerTLS *tls.Config            // must demand and verify client certificates
	ClientTLS *tls.Config            // for forwarding to the leader

	Submitter  Submitter
	Stater     Stater
	Eventer    Eventer   // nil: there are no events
	Canceller  Canceller // nil: jobs are not cancelled
	Jobs       JobReader // nil: jobs are not told of
	Changer    Changer   // nil: the fabric is not changed
	Finder     Finder
	Indexer    Indexer                     // nil: reads are local
	Membership Membership                  // nil: replicas stay what they are
	Check      func(*controller.Job) error // what a job must fulfil on this fabric; nil: no more than its form
	Replay     bool                        // admins submit jobs of a recorded run, which arrive when they say
	Retention  func() time.Duration        // how long requests are known; 0, or nil: for good
	Logger     *slog.Logger                // nil discards
	Tracer     trace.Tracer                // nil makes no spans

	Resources
	Reported
	Callers Callers
	Limits  Limits
}

// Resources are what callers ask for beside jobs.
type Resources struct {
	BandwidthReserver BandwidthReserver // nil: bandwidth is not given to others
	Slicer            Slicer            // nil: there are no slices
	Wirer             Wirer             // nil: no testbeds are wired
}

// Reported is what a replica tells of itself. What is nil is not reported.
type Reported struct {
	Epoch   func() time.Time     // when the run began: without it there are no times of the day
	Now     func() time.Duration // of the run
	Changes func() int           // leader changes seen so far
	Disk    func() error         // why this replica's disk takes no writes
	Ready   func() bool          // this replica leads, and decides on jobs at once
	Links   func() []Link        // link rates known to this replica's leadership
	Claims  func() []Claim       // this replica's claims of devices
	Agents  func() []Agent       // as this replica's leadership knows them
	Silent  func() []Silent      // jobs with tasks without a sign of life
	Fabric  func() *apiv1.Fabric
	Reasons func(controller.JobID) []string // what this replica's policy has said of a job
	// how far this replica takes part since it started, why no further, and what it has seen of others
	Standing func() (standing, why string, troubles []string)
}

// Limits bound what callers can use up. Zero fields take the defaults of DefaultLimits.
type Limits struct {
	Body    int           // bytes of one request, uncompressed
	Conns   int           // connections at once of authenticated callers; replicas have their own besides
	Open    int           // TLS handshakes under way at once
	Streams int           // calls at once on one connection
	Bytes   int           // of requests that are read, wait or are answered; a caller has half of them at most
	Grace   time.Duration // that a request can take, however small
	Pace    int           // bytes of a request a second beyond Grace
	Call    time.Duration // of one call that is no stream, reading it included
	Write   time.Duration // of one write to a slow caller

	// Slots, which callers get in turn, and of which one caller has half at most.
	Calls   int
	Pages   int // for reads whose answers are large
	Batches int // of jobs
	Watches int // streams; one more is refused
}

// DefaultLimits hold the largest job that is accepted.
func DefaultLimits() Limits {
	return Limits{Body: 32 << 20, Conns: guard.DefaultShared, Open: guard.DefaultOpen, Streams: 32,
		Bytes: 256 << 20, Grace: 5 * time.Second, Pace: 16 << 10,
		Call: 30 * time.Second, Write: 10 * time.Second, Calls: 256, Pages: 16, Batches: 16, Watches: 2048}
}

func (l *Limits) fill() {
	d := DefaultLimits()
	l.Body = or(l.Body, d.Body)
	l.Conns = or(l.Conns, d.Conns)
	l.Open = or(l.Open, d.Open)
	l.Streams = or(l.Streams, d.Streams)
	l.Bytes = or(l.Bytes, d.Bytes)
	l.Grace = or(l.Grace, d.Grace)
	l.Pace = or(l.Pace, d.Pace)
	l.Call = or(l.Call, d.Call)
	l.Write = or(l.Write, d.Write)
	l.Calls = or(l.Calls, d.Calls)
	l.Pages = or(l.Pages, d.Pages)
	l.Batches = or(l.Batches, d.Batches)
	l.Watches = or(l.Watches, d.Watches)
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

// Server answers the northbound calls of one replica.
type Server struct {
	cfg       Config
	admission *admission
	http      *http.Client

	told told

	mu    sync.Mutex
	peers map[string]apiv1connect.ControllerClient // by address
}

// NewServer returns a server that does not listen yet.
func NewServer(cfg Config) (*Server, error) {
	fail := func(cause string) (*Server, error) {
		return nil, fmt.Errorf("configure northbound of %q: %s", cfg.ID, cause)
	}
	switch {
	case cfg.Submitter == nil || cfg.Stater == nil || cfg.Finder == nil:
		return fail("needs a submitter, a stater and a finder")
	case cfg.Listener == nil:
		return fail("has no listener")
	case pki.CheckServer(cfg.ServerTLS) != nil:
		return fail(pki.CheckServer(cfg.ServerTLS).Error())
	case cfg.ClientTLS == nil:
		return fail("has no client TLS to forward with")
	}
	cfg.Limits.fill()
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Tracer == nil {
		cfg.Tracer = (*tracing.Exporter)(nil).Tracer()
	}
	s := &Server{
		admission: newAdmission(cfg.Limits), http: httpClient(cfg.ClientTLS),
		peers: map[string]apiv1connect.ControllerClient{},
	}
	s.cfg = s.owned(cfg)
	return s, nil
}

// owned puts what tenants own between a server and what it calls.
func (s *Server) owned(c Config) Config {
	o := owning{s, c.Submitter, c.Canceller, c.BandwidthReserver}
	c.Submitter = o
	if c.Canceller != nil {
		c.Canceller = o
	}
	if c.BandwidthReserver != nil {
		c.BandwidthReserver = o
	}
	if c.Slicer != nil {
		c.Slicer = ownSlices{o, c.Slicer}
	}
	if c.Eventer != nil {
		c.Eventer = entitled{s, c.Eventer}
	}
	return c
}

// address is the northbound address of a replica; empty if it is not known.
func (s *Server) address(id string) string {
	if at := s.cfg.Peers[id]; at != "" || s.cfg.Address == nil {
		return at
	}
	return s.cfg.Address(id)
}

// peer returns another replica to call; nil if its address is not known.
func (s *Server) peer(id string) apiv1connect.ControllerClient {
	at := s.address(id)
	if at == "" || id == s.cfg.ID {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.peers[at] == nil {
		s.peers[at] = newCaller(s.http, "https://"+at, connect.WithInterceptors(speakFor()))
	}
	return s.peers[at]
}

// shutdownWait is how long calls in progress can take to end after Run was asked to stop: their
// contexts have ended by then. More would be wasted on idle HTTP/2 connections, which net/http waits
// for too.
const shutdownWait = 100 * time.Millisecond

// Run serves until ctx ends (nil) or the listener breaks (the error), and returns when every call has ended.
func (s *Server) Run(ctx context.Context) error {
	defer s.http.CloseIdleConnections()
	calls, cancel := context.WithCancel(ctx)
	defer cancel()
	l := s.cfg.Limits
	srv := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       l.Call,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		HTTP2:             &http.HTTP2Config{MaxConcurrentStreams: l.Streams},
		BaseContext:       func(net.Listener) context.Context { return calls },
		ConnContext:       notePeer,
		ErrorLog:          slog.NewLogLogger(s.cfg.Logger.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 2)
	listeners := []net.Listener{s.guard()}
	if s.cfg.Callers.Local != nil {
		listeners = append(listeners, s.cfg.Callers.Local)
	}
	for _, ln := range listeners {
		go func() { served <- srv.Serve(ln) }()
	}
	var err error
	select {
	case err = <-served:
		err = fmt.Errorf("serve northbound on %q: %w", s.cfg.Listener.Addr(), err)
	case <-ctx.Done():
		wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWait)
		defer cancel()
		_ = srv.Shutdown(wait) // in time or not, Close ends the rest
		_ = <-served           // that it was shut down
	}
	err = errors.Join(err, ignoreClosed(srv.Close()))
	for range listeners[1:] {
		_ = <-served
	}
	return err
}

// guard lets callers in once they are authenticated, replicas in slots of their own, and admins however
// many others there are.
func (s *Server) guard() *guard.Guard {
	c := guard.GRPC(s.cfg.ServerTLS) // HTTP/2 first
	c.NextProtos = append(c.NextProtos, "http/1.1")
	replica := func(name string) bool {
		id, ok := strings.CutPrefix(name, guard.NameOf(pki.Controller, ""))
		if _, known := s.cfg.Peers[id]; known || !ok || s.cfg.Membership == nil {
			return known && ok
		}
		return slices.ContainsFunc(s.cfg.Membership.Members().Members, func(m Member) bool { return m.ID == id })
	}
	admin := func(name string) bool {
		who, ok := strings.CutPrefix(name, guard.NameOf(pki.Client, ""))
		return ok && s.access(Caller{Kind: byClient, Name: who}) == controller.Admin
	}
	return guard.New(s.cfg.Listener, guard.Config{TLS: c, Reserved: replica, Always: admin,
		Shared: s.cfg.Limits.Conns,
		Open:   s.cfg.Limits.Open, Logger: s.cfg.Logger})
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// compressFrom is the size in bytes of the least answer that is compressed. Below, gzip costs more than
// all else of an answer: it was half of what 1,000 watchers of jobs cost.
const compressFrom = 64 << 10

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	path, calls := apiv1connect.NewControllerHandler(&service{s},
		connect.WithReadMaxBytes(s.cfg.Limits.Body), connect.WithCompressMinBytes(compressFrom),
		connect.WithInterceptors(passing(), callCounter{s}, s.auditor(), s.blameDisk(),
			deadline(s.cfg.Limits.Call)))
	mux.Handle(path, calls)
	mux.HandleFunc("GET "+eventsPath, s.tallied(s.serveEvents))
	mux.HandleFunc("GET "+jobsPath, s.tallied(s.serveJobs))
	known := grpcreflect.NewStaticReflector(apiv1connect.ControllerName)
	mux.Handle(grpcreflect.NewHandlerV1(known))
	mux.Handle(grpcreflect.NewHandlerV1Alpha(known))
	return withWriteDeadlines(s.atHome(s.admit(mux)), s.cfg.Limits.Write)
}

// blameDisk returns the code of a failed disk for a call that failed for lack of a leader or with an
// unknown outcome, if the disk takes no writes: such a replica neither leads nor follows.
func (s *Server) blameDisk() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			out, err := next(ctx, r)
			if err == nil || s.cfg.Disk == nil {
				return out, err
			}
			switch err := decode(err); CodeOf(err) {
			case NotLeader, NoLeader, Uncertain, Late:
				if why := s.cfg.Disk(); why != nil {
					return nil, encode(&Error{Disk, fmt.Errorf("%w: %w", err, why)})
				}
			}
			return out, err
		}
	}
}

// deadline bounds every unary call, whatever deadline the caller sets.
func deadline(most time.Duration) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			ctx, cancel := context.WithTimeout(ctx, most)
			defer cancel()
			return next(ctx, r)
		}
	}
}

// withWriteDeadlines gives every write a deadline of its own, so that a stream can last for hours and a caller
// that stopped reading may not.
func withWriteDeadlines(next http.Handler, most time.Duration) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t := &timedWriter{ResponseWriter: w, to: http.NewResponseController(w), most: most}
		_ = t.to.SetWriteDeadline(time.Time{}) // of the last call here
		next.ServeHTTP(t, r)
		t.arm() // for what the server still writes by itself
	})
}

// timedWriter sets the deadline for the time of a write only: HTTP/2 ends a stream whose deadline
// passes, silent or not.
type timedWriter struct {
	http.ResponseWriter
	to   *http.ResponseController
	most time.Duration
}

// arm and disarm cannot fail on our own server's writers.
func (w *timedWriter) arm()    { _ = w.to.SetWriteDeadline(time.Now().Add(w.most)) }
func (w *timedWriter) disarm() { _ = w.to.SetWriteDeadline(time.Time{}) }

// Unwrap is what http.ResponseController calls for what is not here.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *timedWriter) Write(b []byte) (int, error) {
	w.arm()
	defer w.disarm()
	return w.ResponseWriter.Write(b)
}

// FlushError implements what http.ResponseController calls.
func (w *timedWriter) FlushError() error {
	w.arm()
	defer w.disarm()
	return w.to.Flush()
}

// Flush implements http.Flusher, which Connect requires.
func (w *timedWriter) Flush() { _ = w.FlushError() } // the next write returns the error
