package pki

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// Paths are the files that a Source reads. Each can be replaced while the program runs.
type Paths struct {
	Files
	Revoked string          `json:"revoked,omitempty"` // revocation lists; a file that is not there holds none
	Trust   map[Role]string `json:"trust,omitempty"`   // authorities of one role, in place of those of Files
}

// Credentials are what a client shows: an Identity, or a Source.
type Credentials interface {
	Client(serverName string, want Role) *tls.Config
}

// Source is an identity and what it trusts, read again when its files change. What it gives crypto/tls
// uses the newest for every handshake; a connection goes on with what it began with. Its methods can be
// called by several goroutines.
type Source struct {
	paths Paths // of Open
	now   func() time.Time
	held  atomic.Pointer[held]
}

type held struct {
	id     Identity
	trust  *Trust
	stamp  string
	passed passed
}

// Static returns a source that never changes, and trusts the authorities of id.
func Static(id Identity) *Source {
	s := &Source{now: time.Now}
	s.held.Store(&held{id: id, trust: &Trust{own: id.cas}})
	return s
}

// Open reads the files.
func Open(p Paths) (*Source, error) {
	s := &Source{paths: p, now: time.Now}
	_, err := s.Reload()
	return s, err
}

// Reload reads the files again if they have changed. After an error, such as for parts that do not fit
// together because only some were replaced yet, the source goes on with what it has.
func (s *Source) Reload() (changed bool, err error) {
	if s.paths.Cert == "" {
		return false, nil
	}
	stamp := s.paths.stamp()
	old := s.held.Load()
	if old != nil && old.stamp == stamp {
		return false, nil
	}
	next, err := s.paths.read()
	if err == nil && old != nil && (old.id.role != next.id.role || old.id.name != next.id.name) {
		err = fmt.Errorf("the certificate is now of %s, not of %s", next.id, old.id)
	}
	if err == nil && s.now().After(next.id.cert.NotAfter) && old != nil {
		err = fmt.Errorf("the certificate of %s has ended on %s", next.id,
			next.id.cert.NotAfter.Format(time.RFC3339))
	}
	if err != nil {
		return false, err
	}
	next.stamp = stamp
	s.held.Store(next)
	return old != nil, nil
}

// stamp tells whether files have changed. Times alone do not: the kernel's have steps of milliseconds,
// within which a file can be replaced by one of the same size.
func (p Paths) stamp() string {
	var b strings.Builder
	note := func(path string) {
		if st, err := os.Stat(path); err == nil {
			inode := uint64(0)
			if sys, ok := st.Sys().(*syscall.Stat_t); ok {
				inode = sys.Ino
			}
			fmt.Fprint(&b, st.Size(), " ", st.ModTime().UnixNano(), " ", inode, ";")
		} else {
			b.WriteString("-;")
		}
	}
	for _, path := range []string{p.Cert, p.Key, p.CA, p.Revoked} {
		note(path)
	}
	for _, r := range Roles() {
		note(p.Trust[r])
	}
	return b.String()
}

func (p Paths) read() (*held, error) {
	id, err := p.Files.Read()
	if err != nil {
		return nil, err
	}
	t := &Trust{own: id.cas, foreign: map[Role][]*x509.Certificate{}, revoked: map[string]bool{}}
	for r, path := range p.Trust {
		of, err := readParts(path)
		if err != nil {
			return nil, fmt.Errorf("read authorities of %ss: %w", r, err)
		}
		if t.foreign[r] = append(of.certs, of.cas...); len(t.foreign[r]) == 0 {
			return nil, fmt.Errorf("read authorities of %ss: %q holds no %s in PEM", r, path, certBlock)
		}
	}
	if p.Revoked != "" {
		lists, err := readLists(p.Revoked)
		if err == nil {
			err = t.withdraw(lists)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return &held{id: id, trust: t}, nil
}

// DefaultEvery is how often Watch looks for changes.
const DefaultEvery = 2 * time.Second

// remindEvery is the interval of warnings of one certificate.
const remindEvery = time.Hour

// Watch reads the files again whenever they change, until ctx ends, and warns of a certificate of which
// a fifth of its life is left.
func (s *Source) Watch(ctx context.Context, every time.Duration, log *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	told := ""
	var warned time.Time
	for {
		changed, err := s.Reload()
		switch {
		case err == nil && changed:
			log.Warn("keys read again", "of", s.Identity().String(), "until", s.Identity().NotAfter())
			told = ""
		case err != nil && err.Error() != told:
			told = err.Error()
			log.Error("read keys again", "error", err)
		}
		if now := s.now(); s.Identity().Due(now) && (changed || now.Sub(warned) >= remindEvery) {
			warned = now
			log.Warn("certificate ends soon: renew it", "of", s.Identity().String(), "until",
				s.Identity().NotAfter())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Due reports whether a fifth or less of a certificate's life is left.
func (id Identity) Due(now time.Time) bool {
	life := id.cert.NotAfter.Sub(id.cert.NotBefore)
	return id.cert.NotAfter.Sub(now) <= life/5
}

// Identity returns the newest identity.
func (s *Source) Identity() Identity { return s.held.Load().id }

// Server returns the TLS configuration of a server that takes peers of these roles only, as
// Identity.Server does, always with the newest certificate, authorities and revocations.
func (s *Source) Server(allow ...Role) *tls.Config {
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		ClientAuth:             tls.RequireAnyClientCert, // VerifyConnection verifies it: ClientCAs could not change
		SessionTicketsDisabled: true,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			c := s.Identity().pair()
			return &c, nil
		},
		VerifyConnection: func(st tls.ConnectionState) error {
			_, _, err := s.Peer(st, allow...)
			return err
		},
	}
}

// Client returns the TLS configuration of a client of the server with that name, as Identity.Client
// does, always with the newest certificate, authorities and revocations. With no name the caller calls
// CheckHost after the handshake.
func (s *Source) Client(serverName string, want Role) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		ServerName:         serverName,
		InsecureSkipVerify: true, // VerifyConnection verifies the server: RootCAs could not change
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			c := s.Identity().pair()
			return &c, nil
		},
		VerifyConnection: func(st tls.ConnectionState) error {
			_, _, err := s.held.Load().trust.verify(st.PeerCertificates, serverName, []Role{want},
				x509.ExtKeyUsageServerAuth, s.now())
			return err
		},
	}
}

// Peer returns the role and name of the other side of a connection, verified anew: a certificate that
// has ended or was revoked since the handshake is an error, as is a role that is not allowed. What was
// verified less than a second ago, under the same trust, is not verified again.
func (s *Source) Peer(st tls.ConnectionState, allow ...Role) (Role, string, error) {
	h, now := s.held.Load(), s.now()
	if p, known := h.passed.find(st.PeerCertificates, now); known && slices.Contains(allow, p.role) {
		return p.role, p.name, nil
	}
	role, name, err := h.trust.verify(st.PeerCertificates, "", allow, x509.ExtKeyUsageClientAuth, now)
	if err == nil {
		h.passed.note(st.PeerCertificates, pass{role, name, now})
	}
	return role, name, err
}

// CheckServer reports whether a server's TLS configuration demands and verifies client certificates.
func CheckServer(c *tls.Config) error {
	if c == nil || c.ClientAuth != tls.RequireAndVerifyClientCert &&
		(c.ClientAuth != tls.RequireAnyClientCert || c.VerifyConnection == nil) {
		return errors.New("server TLS does not require and verify client certificates")
	}
	return nil
}
