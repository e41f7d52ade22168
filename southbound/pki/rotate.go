package pki

import (
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
)

// With returns the identity with other parts: certificates and authorities in PEM, and a key. Those
// that are empty stay.
func (id Identity) With(certs []byte, key crypto.Signer, cas []byte) (Identity, error) {
	chain, trust := append([]*x509.Certificate{id.cert}, id.chain...), id.cas
	var err error
	if len(certs) > 0 {
		if chain, err = parseCerts(certs); err != nil {
			return Identity{}, fmt.Errorf("read certificate: %w", err)
		}
	}
	if len(cas) > 0 {
		if trust, err = parseCerts(cas); err != nil {
			return Identity{}, fmt.Errorf("read authorities: %w", err)
		}
	}
	if key == nil {
		key = id.key
	}
	next, err := newIdentity(chain, key, trust)
	if err != nil {
		return Identity{}, fmt.Errorf("join identity: %w", err)
	}
	return next, nil
}

func parseCerts(data []byte) ([]*x509.Certificate, error) {
	p, err := parseParts(data)
	if err == nil && (p.key != nil || len(p.certs) == 0) {
		err = errors.New("want certificates, and nothing else")
	}
	return p.certs, err
}

// ParseKey reads a key in PEM (PKCS #8). Errors never show what was in its block.
func ParseKey(data []byte) (crypto.Signer, error) {
	p, err := parseParts(data)
	if err == nil && (p.key == nil || len(p.certs)+len(p.cas) > 0) {
		err = errors.New("want one key in PKCS #8, and nothing else")
	}
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	return p.key, nil
}

// Swap puts another identity of the same role and name in the place of the source's, in its files. undo
// puts the old one back.
func (s *Source) Swap(id Identity) (undo func() error, err error) {
	if s.paths.Cert == "" {
		return nil, errors.New("swap identity: this one stands in no file")
	}
	old := s.Identity()
	put := func(x Identity) error {
		if err := s.paths.Files.Replace(x); err != nil {
			return err
		}
		_, err := s.Reload()
		return err
	}
	if err := put(id); err != nil {
		return nil, errors.Join(fmt.Errorf("swap identity: %w", err), put(old))
	}
	return func() error { return put(old) }, nil
}
