package northbound

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// readKeys reads a file of lightloom keys: a certificate, its key, and the authorities behind the key. The server must
// show a certificate of one of these, for its address and for the role of a controller.
func readKeys(path string) (*tls.Config, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	if st.Mode().Perm()&0o027 != 0 { // of a Secret's volume, the pod's group may read too
		return nil, fmt.Errorf("read keys %q: others may read it (mode %v): chmod 600 it, or give a Secret's volume "+
			"defaultMode: 0400", path, st.Mode().Perm())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	cfg, err := parseKeys(text, time.Now())
	if err != nil {
		return nil, fmt.Errorf("read keys %q: %w", path, err)
	}
	return cfg, nil
}

func parseKeys(text []byte, now time.Time) (*tls.Config, error) {
	roots, behind, authorities := x509.NewCertPool(), false, 0
	for b, rest := pem.Decode(text); b != nil; b, rest = pem.Decode(rest) {
		if b.Type == "PRIVATE KEY" {
			behind = true
			continue
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
		if behind {
			roots.AddCert(c)
			authorities++
		}
	}
	if authorities == 0 {
		return nil, errors.New("it has no authority behind its key: take a file that lightloom keys issue wrote")
	}
	pair, err := tls.X509KeyPair(text, text)
	if err != nil {
		return nil, errors.New("its key and certificate do not fit together")
	}
	if end := pair.Leaf.NotAfter; now.After(end) {
		return nil, fmt.Errorf("the certificate ended on %s: issue another one (lightloom keys renew)",
			end.Format(time.RFC3339))
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, RootCAs: roots, Certificates: []tls.Certificate{pair},
		VerifyConnection: checkRole}, nil
}

// checkRole keeps switches and agents, whose certificates are of the same authority, from passing for a controller.
func checkRole(s tls.ConnectionState) error {
	for _, u := range s.PeerCertificates[0].URIs {
		if u.Scheme == "lightloom" {
			if u.Host == "controller" {
				return nil
			}
			return fmt.Errorf("the server is a %s, and no controller", strings.TrimSpace(u.Host))
		}
	}
	return errors.New("the server's certificate names no role: it is no Lightloom controller's")
}
