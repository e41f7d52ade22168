package pki

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
)

// Identity is a certificate with its key and the authority it trusts. It prints as its role and name, never its key.
type Identity struct {
	role Role
	name string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	ca   *x509.Certificate
}

// newIdentity joins the three parts, once they are known to belong together.
func newIdentity(cert *x509.Certificate, key *ecdsa.PrivateKey, ca *x509.Certificate) (Identity, error) {
	if !key.PublicKey.Equal(cert.PublicKey) {
		return Identity{}, errors.New("the key is another certificate's")
	}
	if err := cert.CheckSignatureFrom(ca); err != nil {
		return Identity{}, fmt.Errorf("the certificate is not the authority's: %w", err)
	}
	role, name, err := roleOf(cert)
	if err != nil {
		return Identity{}, err
	}
	return Identity{role: role, name: name, cert: cert, key: key, ca: ca}, nil
}

// Role returns what the identity may act as.
func (id Identity) Role() Role { return id.role }

// Name returns its name, which is also its DNS name.
func (id Identity) Name() string { return id.name }

// IsZero reports whether id is no identity at all.
func (id Identity) IsZero() bool { return id.cert == nil }

func (id Identity) String() string {
	if id.IsZero() {
		return "no identity"
	}
	return string(id.role) + "/" + id.name
}

// GoString keeps the key out of %#v.
func (id Identity) GoString() string { return "pki.Identity(" + id.String() + ")" }

// LogValue keeps the key out of logs.
func (id Identity) LogValue() slog.Value { return slog.StringValue(id.String()) }

// Server returns the TLS configuration of a server that takes peers of these roles only. TLS 1.3; both sides show
// certificates of the same authority.
func (id Identity) Server(allow ...Role) *tls.Config {
	allow = slices.Clone(allow)
	c := id.config()
	c.ClientAuth = tls.RequireAndVerifyClientCert
	c.ClientCAs = id.pool()
	c.SessionTicketsDisabled = true // every connection shows its certificate again
	c.VerifyConnection = func(s tls.ConnectionState) error { return checkPeer(s, allow) }
	return c
}

// Client returns the TLS configuration of a client of the server with that DNS name (as given to Issue; "localhost" and
// loopback addresses fit any identity), which must have the role want.
func (id Identity) Client(serverName string, want Role) *tls.Config {
	c := id.config()
	c.RootCAs = id.pool()
	c.ServerName = serverName
	c.VerifyConnection = func(s tls.ConnectionState) error { return checkPeer(s, []Role{want}) }
	return c
}

func (id Identity) config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		Certificates: []tls.Certificate{{
			Certificate: [][]byte{id.cert.Raw},
			PrivateKey:  id.key,
			Leaf:        id.cert,
		}},
	}
}

func (id Identity) pool() *x509.CertPool {
	p := x509.NewCertPool()
	p.AddCert(id.ca)
	return p
}

// Peer returns the role and name of the other side of a connection whose handshake is done.
func Peer(s tls.ConnectionState) (Role, string, error) {
	if len(s.PeerCertificates) == 0 {
		return "", "", errors.New("read peer: it showed no certificate")
	}
	return roleOf(s.PeerCertificates[0])
}

// checkPeer runs after crypto/tls has verified the chain, the name and the dates.
func checkPeer(s tls.ConnectionState, allow []Role) error {
	role, name, err := Peer(s)
	if err != nil {
		return err
	}
	if !slices.Contains(allow, role) {
		return fmt.Errorf("check peer %q: its role is %s, want one of %v", name, role, allow)
	}
	return nil
}
