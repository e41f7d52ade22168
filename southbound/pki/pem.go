package pki

import (
	"crypto/ecdsa"
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

// maxPEM bounds what ParseIdentity reads: three blocks of P-256 take under 3 kB.
const maxPEM = 64 << 10

// MarshalPEM returns the certificate, its key (PKCS #8) and the authority's certificate, in this order. The result is a
// secret: hand it to a child over a pipe or a file made by WriteFile, and log it nowhere.
func (id Identity) MarshalPEM() ([]byte, error) {
	if id.IsZero() {
		return nil, errors.New("marshal identity: it is empty")
	}
	key, err := x509.MarshalPKCS8PrivateKey(id.key)
	if err != nil {
		return nil, fmt.Errorf("marshal identity %s: %w", id, err)
	}
	out := pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: id.cert.Raw})
	out = append(out, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: key})...)
	return append(out, pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: id.ca.Raw})...), nil
}

// ParseIdentity is the inverse of MarshalPEM. Errors never show what was in the key's block.
func ParseIdentity(data []byte) (Identity, error) {
	fail := func(err error) (Identity, error) { return Identity{}, fmt.Errorf("parse identity: %w", err) }
	if len(data) > maxPEM {
		return fail(fmt.Errorf("%d bytes, at most %d are taken", len(data), maxPEM))
	}
	want := [3]string{certBlock, keyBlock, certBlock}
	var der [3][]byte
	for i := range want {
		var b *pem.Block
		if b, data = pem.Decode(data); b == nil || b.Type != want[i] {
			return fail(fmt.Errorf("block %d is no %s", i+1, want[i]))
		}
		der[i] = b.Bytes
	}
	cert, err := x509.ParseCertificate(der[0])
	if err != nil {
		return fail(fmt.Errorf("certificate: %w", err))
	}
	ca, err := x509.ParseCertificate(der[2])
	if err != nil {
		return fail(fmt.Errorf("authority: %w", err))
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der[1])
	if err != nil {
		return fail(errors.New("key: it is not PKCS #8"))
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return fail(errors.New("key: it is not ECDSA"))
	}
	id, err := newIdentity(cert, key, ca)
	if err != nil {
		return fail(err)
	}
	return id, nil
}

// WriteFile writes the identity's PEM to a new file that only its owner may read. An existing file is an error.
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
		return Identity{}, fmt.Errorf("read identity %q: others may read it (mode %v): chmod 600 it", path, st.Mode().Perm())
	}
	if st.Size() > maxPEM {
		return Identity{}, fmt.Errorf("read identity %q: %d bytes, at most %d are taken", path, st.Size(), maxPEM)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Identity{}, fmt.Errorf("read identity: %w", err)
	}
	return ParseIdentity(data)
}
