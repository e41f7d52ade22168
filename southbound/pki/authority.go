package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"slices"
	"time"

	"lightloom/southbound/hint"
)

// skew is how far the clocks of two machines of one lab may differ.
const skew = time.Minute

// Authority signs the certificates of one run. Its methods can be called by several goroutines.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New makes an authority whose certificates are good for life from now on.
func New(life time.Duration) (*Authority, error) {
	if life <= 0 {
		return nil, fmt.Errorf("make authority: life %v: take a duration above zero", life)
	}
	now := time.Now()
	return newAuthority(now.Add(-skew), now.Add(life))
}

func newAuthority(notBefore, notAfter time.Time) (*Authority, error) {
	key, serial, err := keyAndSerial()
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	c := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "lightloom run authority " + serial.Text(16)[:8]},
		NotBefore:             notBefore,
		NotAfter:              notAfter,
		IsCA:                  true,
		BasicConstraintsValid: true,
		MaxPathLenZero:        true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		return nil, fmt.Errorf("make authority: %w", err)
	}
	return &Authority{cert: c, key: key}, nil
}

// Issue makes an identity. Its certificate is good for the names name and localhost and the loopback
// addresses, for as long as the authority is.
func (a *Authority) Issue(role Role, name string) (Identity, error) {
	return a.IssueFor(role, name, "localhost", "127.0.0.1", "::1")
}

// IssueFor makes an identity whose certificate is good for its name and these hosts, each a DNS name or
// an IP address, for as long as the authority is.
func (a *Authority) IssueFor(role Role, name string, hosts ...string) (Identity, error) {
	return a.issue(role, name, hosts, a.cert.NotBefore, a.cert.NotAfter)
}

// IssueUntil is IssueFor with a life of its own, from now on, which ends with the authority's at the latest.
func (a *Authority) IssueUntil(now time.Time, life time.Duration, role Role, name string,
	hosts ...string) (Identity,
	error) {
	if life <= 0 {
		return Identity{}, fmt.Errorf("issue %s certificate: life %v: take a duration above zero", role, life)
	}
	from, until := now.Add(-skew), now.Add(life)
	if from.Before(a.cert.NotBefore) {
		from = a.cert.NotBefore
	}
	if until.After(a.cert.NotAfter) {
		until = a.cert.NotAfter
	}
	if !now.Before(until) {
		return Identity{}, hint.New(fmt.Sprintf("issue %s certificate: the authority's own has ended on %s", role,
			a.cert.NotAfter.Format(time.RFC3339)), "make another authority")
	}
	return a.issue(role, name, hosts, from, until)
}

// Trusting returns an identity that trusts this authority too, beside those that it trusts.
func (a *Authority) Trusting(id Identity) Identity {
	if !slices.ContainsFunc(id.cas, a.cert.Equal) {
		id.cas = append(slices.Clone(id.cas), a.cert)
	}
	return id
}

// Renew makes a certificate with a new key in the place of another, for the same role, name and hosts.
// It trusts this authority beside those that the old one trusts, or alone.
func (a *Authority) Renew(old Identity, now time.Time, life time.Duration, alone bool) (Identity, error) {
	hosts := addressTexts(old.cert.IPAddresses)
	for _, h := range old.cert.DNSNames {
		if h != old.name {
			hosts = append(hosts, h)
		}
	}
	id, err := a.IssueUntil(now, life, old.role, old.name, hosts...)
	if err != nil {
		return Identity{}, fmt.Errorf("renew %s: %w", old, err)
	}
	for _, ca := range old.cas {
		if !alone && !ca.Equal(a.cert) && now.Before(ca.NotAfter) {
			id.cas = append(id.cas, ca)
		}
	}
	return id, nil
}

func (a *Authority) issue(role Role, name string, hosts []string, notBefore,
	notAfter time.Time) (Identity, error) {
	fail := func(err error) (Identity, error) {
		return Identity{}, fmt.Errorf("issue %s certificate: %w", role, err)
	}
	if err := checkName(name); err != nil {
		return fail(err)
	}
	names, addresses := []string{name}, []net.IP(nil)
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			addresses = append(addresses, ip)
		} else if err := checkName(h); err != nil {
			return fail(err)
		} else if h != name {
			names = append(names, h)
		}
	}
	key, serial, err := keyAndSerial()
	if err != nil {
		return fail(err)
	}
	c := &x509.Certificate{
		SerialNumber: serial,
		Subject:      pkix.Name{CommonName: name, OrganizationalUnit: []string{string(role)}},
		NotBefore:    notBefore,
		NotAfter:     notAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:     names,
		IPAddresses:  addresses,
		URIs:         []*url.URL{roleURI(role, name)},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, &key.PublicKey, a.key)
	if err != nil {
		return fail(err)
	}
	if c, err = x509.ParseCertificate(der); err != nil {
		return fail(err)
	}
	id, err := newIdentity([]*x509.Certificate{c}, key, []*x509.Certificate{a.cert})
	if err != nil {
		return fail(err)
	}
	return id, nil
}

func keyAndSerial() (*ecdsa.PrivateKey, *big.Int, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	// 127 random bits with the highest one set: positive, never short, and unique without a counter.
	b := make([]byte, 16)
	if _, err := rand.Read(b); err != nil {
		return nil, nil, err
	}
	b[0] = b[0]&0x7f | 0x40
	return key, new(big.Int).SetBytes(b), nil
}
