package pki

import (
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// Identity is a certificate with its key and the authorities it trusts. It prints as its role and name,
// never its key.
type Identity struct {
	role  Role // "" in a certificate of a foreign authority, which does not name one
	name  string
	cert  *x509.Certificate
	chain []*x509.Certificate // between it and an authority
	key   crypto.Signer
	cas   []*x509.Certificate
}

// newIdentity joins the parts, once they are known to belong together. certs begin with the certificate
// itself.
func newIdentity(certs []*x509.Certificate, key crypto.Signer, cas []*x509.Certificate) (Identity, error) {
	if len(certs) == 0 || len(cas) == 0 {
		return Identity{}, errors.New("a certificate or an authority is missing")
	}
	cert := certs[0]
	if pub, ok := key.Public().(interface{ Equal(crypto.PublicKey) bool }); !ok || !pub.Equal(cert.PublicKey) {
		return Identity{}, errors.New("the key is another certificate's")
	}
	if err := signed(cert, certs[1:], cas); err != nil {
		return Identity{}, fmt.Errorf("the certificate is not the authority's: %w", err)
	}
	role, name, err := roleOf(cert)
	if errors.Is(err, errNoRole) {
		name, err = foreignName(cert)
	}
	if err != nil {
		return Identity{}, err
	}
	return Identity{role: role, name: name, cert: cert, chain: certs[1:], key: key, cas: cas}, nil
}

// signed returns an error unless one of cas has signed c, itself or through certificates of chain.
// Times do not matter.
func signed(c *x509.Certificate, chain, cas []*x509.Certificate) (err error) {
	for _, ca := range cas {
		if err = c.CheckSignatureFrom(ca); err == nil {
			return nil
		}
	}
	for i, next := range chain {
		if c.CheckSignatureFrom(next) == nil {
			return signed(next, chain[i+1:], cas)
		}
	}
	return err
}

func poolOf(certs []*x509.Certificate) *x509.CertPool {
	p := x509.NewCertPool()
	for _, c := range certs {
		p.AddCert(c)
	}
	return p
}

// NotAfter returns when the certificate ends.
func (id Identity) NotAfter() time.Time { return id.cert.NotAfter }

// Serial returns the certificate's number in hexadecimal digits, by which an authority revokes it.
func (id Identity) Serial() string { return id.cert.SerialNumber.Text(16) }

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

// Server returns the TLS configuration of a server that takes peers of these roles only. TLS 1.3; both
// sides show certificates of the same authority.
func (id Identity) Server(allow ...Role) *tls.Config {
	allow = slices.Clone(allow)
	c := id.config()
	c.ClientAuth = tls.RequireAndVerifyClientCert
	c.ClientCAs = poolOf(id.cas)
	c.SessionTicketsDisabled = true // every connection shows its certificate again
	c.VerifyConnection = func(s tls.ConnectionState) error { return checkPeer(s, allow) }
	return c
}

// Client returns the TLS configuration of a client of the server with that DNS name (as given to Issue;
// "localhost" and loopback addresses fit any identity), which must have the role want.
func (id Identity) Client(serverName string, want Role) *tls.Config {
	c := id.config()
	c.RootCAs = poolOf(id.cas)
	c.ServerName = serverName
	c.VerifyConnection = func(s tls.ConnectionState) error { return checkPeer(s, []Role{want}) }
	return c
}

func (id Identity) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{id.pair()}}
}

// pair is the certificate as crypto/tls shows it.
func (id Identity) pair() tls.Certificate {
	c := tls.Certificate{Certificate: [][]byte{id.cert.Raw}, PrivateKey: id.key, Leaf: id.cert}
	for _, x := range id.chain {
		c.Certificate = append(c.Certificate, x.Raw)
	}
	return c
}

// Expired returns when a certificate that a client would show has expired; false if none has.
func Expired(c *tls.Config, now time.Time) (time.Time, bool) {
	if c == nil {
		return time.Time{}, false
	}
	own := slices.Clone(c.Certificates)
	if c.GetClientCertificate != nil {
		if shown, err := c.GetClientCertificate(&tls.CertificateRequestInfo{}); err == nil {
			own = append(own, *shown)
		}
	}
	for _, o := range own {
		if len(o.Certificate) == 0 {
			continue
		}
		if leaf, err := x509.ParseCertificate(o.Certificate[0]); err == nil && now.After(leaf.NotAfter) {
			return leaf.NotAfter, true
		}
	}
	return time.Time{}, false
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
