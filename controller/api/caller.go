package api

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"golang.org/x/sys/unix"

	"lightloom/controller"
	"lightloom/controller/api/v1/apiv1connect"
	"lightloom/southbound/pki"
)

// Granter knows and changes what is granted.
type Granter interface {
	// Access returns what the holder of a client certificate with that name is granted, as this replica
	// knows it.
	Access(name string) controller.Access
	// Grants returns all grants, by name.
	Grants() []controller.Grant
	// Grant returns once the grant is in the log. Errors are as those of Submitter.
	Grant(ctx context.Context, g controller.Grant) error
}

// Owners knows whose the jobs and bandwidth reservations of the state are.
type Owners interface {
	JobOwner(id controller.JobID) (name string, known bool)
	BandwidthOwner(id int64) (name string, known bool)
}

// Callers configure who may call what.
type Callers struct {
	// Identify returns role and name of a peer; an error refuses a call on a connection that is open. nil:
	// pki.Peer.
	Identify func(tls.ConnectionState) (pki.Role, string, error)
	Admins   []string // names in client certificates that are admins, whatever is granted
	Granter  Granter  // nil: nothing is granted
	Owners   Owners   // nil: no tenant can end what it owns
	// Local is a Unix socket whose callers are admins if they are this process's user or root; nil: there
	// is none.
	Local net.Listener
	Audit func(AuditRecord) // nil: nobody hears of it
	// Answered is told of every call that has ended: its name, the code of its error or "ok", and how long
	// it took, 0 for a stream; nil: nobody is told.
	Answered func(call, code string, took time.Duration)
}

// Kinds of callers.
const (
	byClient  = "client"  // a client certificate
	byLocal   = "local"   // a user of this machine, at the socket
	byReplica = "replica" // another replica, for itself
)

// Caller is who has made a call.
type Caller struct {
	Kind string
	Name string
	Via  string // the replica that has forwarded it
}

func (c Caller) String() string { return c.Kind + "/" + c.Name }

// onBehalf is the header in which a replica says for whom it forwards a call. It is believed of
// replicas alone.
const onBehalf = "Lightloom-Caller"

func parseCaller(text, via string) (Caller, error) {
	kind, name, ok := strings.Cut(text, "/")
	name, err := url.PathUnescape(name)
	if !ok || err != nil || name == "" || len(name) > controller.MaxGrantName || kind != byClient &&
		kind != byLocal {
		return Caller{}, fmt.Errorf("a call that is forwarded for %q", text)
	}
	return Caller{Kind: kind, Name: name, Via: via}, nil
}

// caller returns who has made a call: the holder of the connection's certificate, or whom a replica
// forwards it for.
func (s *Server) caller(r *http.Request) (Caller, error) {
	if r.TLS == nil {
		uid, ok := r.Context().Value(peerUID{}).(int)
		if !ok || uid != 0 && uid != os.Getuid() {
			return Caller{}, errors.New("the socket is for the user of this replica, and root")
		}
		return Caller{Kind: byLocal, Name: fmt.Sprintf("uid:%d", uid)}, s.unforwarded(r)
	}
	role, name, err := s.identify(*r.TLS)
	switch {
	case err != nil:
		return Caller{}, err
	case role == pki.Client:
		return Caller{Kind: byClient, Name: name}, s.unforwarded(r)
	case role != pki.Controller:
		return Caller{}, fmt.Errorf("a certificate of the role %s calls", role)
	case r.Header.Get(forwarded) == "":
		return Caller{Kind: byReplica, Name: name}, s.unforwarded(r)
	case r.Header.Get(forwarded) != name:
		return Caller{}, fmt.Errorf("replica %q says it is %q", name, r.Header.Get(forwarded))
	case r.Header.Get(onBehalf) == "":
		return Caller{Kind: byReplica, Name: name, Via: name}, nil
	}
	return parseCaller(r.Header.Get(onBehalf), name)
}

// unforwarded refuses the words of replicas from anybody else.
func (s *Server) unforwarded(r *http.Request) error {
	if r.Header.Get(forwarded) != "" || r.Header.Get(onBehalf) != "" {
		return fmt.Errorf("only replicas forward calls: leave out %s and %s", forwarded, onBehalf)
	}
	return nil
}

func (s *Server) identify(st tls.ConnectionState) (pki.Role, string, error) {
	if s.cfg.Callers.Identify != nil {
		return s.cfg.Callers.Identify(st)
	}
	return pki.Peer(st)
}

// access returns what a caller has, as this replica knows it.
func (s *Server) access(c Caller) controller.Access {
	switch {
	case c.Kind == byLocal, c.Kind == byClient && slices.Contains(s.cfg.Callers.Admins, c.Name):
		return controller.Admin
	case c.Kind == byReplica:
		return replicas
	case s.cfg.Callers.Granter == nil:
		return ""
	}
	return s.cfg.Callers.Granter.Access(c.Name)
}

type callerKey struct{}

// callerOf returns who has made the call of a context; the zero Caller, who may nothing, outside one.
func callerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// speakFor has a replica say for whom it forwards calls. For a read index it asks on its own account.
func speakFor() connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			c := callerOf(ctx)
			if r.Spec().Procedure != apiv1connect.ControllerReadIndexProcedure &&
				(c.Kind == byClient || c.Kind == byLocal) {
				r.Header().Set(onBehalf, c.Kind+"/"+url.PathEscape(c.Name))
			}
			return next(ctx, r)
		}
	}
}

type peerUID struct{}

// notePeer adds the user at the other end of a Unix socket to a connection's context.
func notePeer(ctx context.Context, c net.Conn) context.Context {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return ctx
	}
	var cred *unix.Ucred
	if raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}) != nil || err != nil {
		return ctx // nobody, who may nothing
	}
	return context.WithValue(ctx, peerUID{}, int(cred.Uid))
}
