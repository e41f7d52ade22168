package pki

import (
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
)

// The block types of a PEM file.
const (
	certBlock = "CERTIFICATE"
	keyBlock  = "PRIVATE KEY"
)

// maxPEM bounds what ParseIdentity reads: three blocks of P-256 take under 3 kB, and chains and
// authorities some more.
const maxPEM = 64 << 10

// MarshalPEM returns the certificate, its key (PKCS #8) and the authorities' certificates, in this
// order. The result is a secret: hand it to a child over a pipe or a file made by WriteFile, and log it
// nowhere.
func (id Identity) MarshalPEM() ([]byte, error) {
	if id.IsZero() {
		return nil, errors.New("marshal identity: it is empty")
	}
	key, err := x509.MarshalPKCS8PrivateKey(id.key)
	if err != nil {
		return nil, fmt.Errorf("marshal identity %s: %w", id, err)
	}
	out := certsPEM(append([]*x509.Certificate{id.cert}, id.chain...))
	out = append(out, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: key})...)
	return append(out, certsPEM(id.cas)...), nil
}

func certsPEM(certs []*x509.Certificate) (out []byte) {
	for _, c := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: c.Raw})...)
	}
	return out
}

// ParseIdentity is the inverse of MarshalPEM. Errors never show what was in the key's block.
func ParseIdentity(data []byte) (Identity, error) {
	p, err := parseParts(data)
	if err == nil && p.key == nil {
		err = errors.New("it has no " + keyBlock)
	}
	var id Identity
	if err == nil {
		id, err = newIdentity(p.certs, p.key, p.cas)
	}
	if err != nil {
		return Identity{}, fmt.Errorf("parse identity: %w", err)
	}
	return id, nil
}

// parts are the blocks of a PEM file: certificates before its key, the key, and the authorities'
// certificates after it.
type parts struct {
	certs, cas []*x509.Certificate
	key        crypto.Signer // nil: there is none
}

func parseParts(data []byte) (p parts, err error) {
	if len(data) > maxPEM {
		return p, fmt.Errorf("%d bytes, at most %d are taken", len(data), maxPEM)
	}
	for b, rest := pem.Decode(data); b != nil; b, rest = pem.Decode(rest) {
		switch {
		case b.Type == certBlock:
			c, err := x509.ParseCertificate(b.Bytes)
			if err != nil {
				return p, fmt.Errorf("certificate: %w", err)
			}
			if p.key == nil {
				p.certs = append(p.certs, c)
			} else {
				p.cas = append(p.cas, c)
			}
		case b.Type == keyBlock && p.key == nil:
			parsed, err := x509.ParsePKCS8PrivateKey(b.Bytes)
			if err != nil {
				return p, errors.New("key: it is not PKCS #8")
			}
			key, ok := parsed.(crypto.Signer)
			if !ok {
				return p, errors.New("key: it cannot sign")
			}
			p.key = key
		default:
			return p, fmt.Errorf("a block %s is not expected here", b.Type)
		}
	}
	return p, nil
}

// WriteFile writes the identity's PEM to a new file that only its owner may read. An existing file is
// an error.
func (id Identity) WriteFile(path string) error {
	data, err := id.MarshalPEM()
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("write identity %s: %w", id, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write identity %s: %w", id, errors.Join(err, os.Remove(path)))
	}
	return nil
}

// ReadFile reads what WriteFile wrote, and refuses a file that others may read.
func ReadFile(path string) (Identity, error) {
	st, err := os.Stat(path)
	if err != nil {
		return Identity{}, fmt.Errorf("read identity: %w", err)
	}
	if st.Mode().Perm()&0o077 != 0 {
		return Identity{}, fmt.Errorf("read identity %q: others may read it (mode %v): chmod 600 it",
			path, st.Mode().Perm())
	}
	data, err := readBounded(path)
	if err != nil {
		return Identity{}, fmt.Errorf("read identity: %w", err)
	}
	return ParseIdentity(data)
}
