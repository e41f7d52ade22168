package pki

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Trust is which authorities vouch for peers of each role, and which certificates they have revoked. It
// is plain data once made.
type Trust struct {
	own     []*x509.Certificate          // of roles without authorities of their own
	foreign map[Role][]*x509.Certificate // an authority of these vouches for this role alone, whatever it writes
	revoked map[string]bool              // by issuer and serial
}

// ErrRevoked marks a certificate that its authority has revoked.
var ErrRevoked = errors.New("its authority has revoked it")

// verify returns the role and name of a peer that shows certs, the peer's own first. host, if any, must
// be among its names. A certificate without a role of ours is of the role whose authorities of their
// own vouch for it, and of no controller.
func (t *Trust) verify(certs []*x509.Certificate, host string, allow []Role, use x509.ExtKeyUsage,
	now time.Time) (Role, string, error) {
	if len(certs) == 0 {
		return "", "", errors.New("check peer: it showed no certificate")
	}
	role, name, err := roleOf(certs[0])
	if errors.Is(err, errNoRole) {
		role, name, err = t.foreignRole(certs, use, now)
	}
	if err != nil {
		return "", "", fmt.Errorf("check peer: %w", err)
	}
	fail := func(err error) (Role, string, error) {
		return "", "", fmt.Errorf("check peer %s/%s: %w", role, name, err)
	}
	if !slices.Contains(allow, role) {
		return fail(fmt.Errorf("its role is %s, want one of %v", role, allow))
	}
	chains, err := chains(certs, t.roots(role), host, use, now)
	if err != nil {
		return fail(err)
	}
	for _, c := range chains[0] {
		if t.revoked[serialOf(c.RawIssuer, c.SerialNumber.Bytes())] {
			return fail(ErrRevoked)
		}
	}
	return role, name, nil
}

func chains(certs, roots []*x509.Certificate, host string, use x509.ExtKeyUsage,
	now time.Time) ([][]*x509.Certificate,
	error) {
	return certs[0].Verify(x509.VerifyOptions{Roots: poolOf(roots), Intermediates: poolOf(certs[1:]),
		DNSName:     host,
		CurrentTime: now, KeyUsages: []x509.ExtKeyUsage{use}})
}

func (t *Trust) roots(r Role) []*x509.Certificate {
	if of, ok := t.foreign[r]; ok {
		return of
	}
	return t.own
}

// foreignRole returns the only role whose own authorities vouch for a certificate that names none.
func (t *Trust) foreignRole(certs []*x509.Certificate, use x509.ExtKeyUsage,
	now time.Time) (role Role, name string,
	err error) {
	for _, r := range Roles() {
		if r == Controller || len(t.foreign[r]) == 0 {
			continue
		}
		if _, err := chains(certs, t.foreign[r], "", use, now); err != nil {
			continue
		}
		if role != "" {
			return "", "", fmt.Errorf("authorities of %ss and of %ss vouch for it, and it names no role", role, r)
		}
		role = r
	}
	if role == "" {
		return "", "", fmt.Errorf("certificate %q of unknown authority: %w",
			certs[0].Subject.CommonName, errNoRole)
	}
	name, err = foreignName(certs[0])
	return role, name, err
}

func serialOf(issuer, serial []byte) string { return string(issuer) + "/" + string(serial) }

// CheckHost returns an error if a server's certificate is not good for the host that was dialled.
// Clients call it after a handshake with a configuration of Source.Client that names no server.
func CheckHost(s tls.ConnectionState, host string) error {
	if len(s.PeerCertificates) == 0 {
		return errors.New("check peer: it showed no certificate")
	}
	return s.PeerCertificates[0].VerifyHostname(host)
}
