package pki

import (
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"lightloom/pathmap/plaintext"
	"lightloom/southbound/durable"
)

// Files are where an identity stands whose three parts are apart, as other tools write them. A file
// that WriteFile wrote holds all three, and may be named three times.
type Files struct {
	Cert, Key, CA string
}

// Read reads an identity. Its key is PKCS #8 and in a file that others may not read.
func (f Files) Read() (Identity, error) {
	st, err := os.Stat(f.Key)
	if err == nil && st.Mode().Perm()&0o077 != 0 {
		err = fmt.Errorf("others may read %q (mode %v): chmod 600 it", f.Key, st.Mode().Perm())
	}
	if err != nil {
		return Identity{}, fmt.Errorf("read identity: %w", err)
	}
	var of [3]parts
	for i, path := range []string{f.Cert, f.Key, f.CA} {
		if of[i], err = readParts(path); err != nil {
			return Identity{}, fmt.Errorf("read identity: %w", err)
		}
	}
	if of[1].key == nil {
		return Identity{}, fmt.Errorf("read identity: %q holds no %s in PEM", f.Key, keyBlock)
	}
	cas := of[2].cas
	if len(cas) == 0 {
		cas = of[2].certs
	}
	id, err := newIdentity(of[0].certs, of[1].key, cas)
	if err != nil {
		return id, fmt.Errorf("read identity of %q: %w", f.Cert, err)
	}
	return id, nil
}

// readParts reads the blocks of a PEM file.
func readParts(path string) (p parts, err error) {
	data, err := readBounded(path)
	if err != nil {
		return p, err
	}
	if p, err = parseParts(data); err != nil {
		return p, fmt.Errorf("%q: %w", path, err)
	}
	return p, nil
}

func readBounded(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.Size() > maxPEM {
		return nil, fmt.Errorf("%q has %d bytes, at most %d are taken", path, st.Size(), maxPEM)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return plaintext.Of(data)
}

// Write writes an identity to new files: the key's only its owner may read. An existing file is an error.
func (f Files) Write(id Identity) error {
	return f.write(id, writeNew)
}

// Replace writes an identity in the place of another. Until all parts are replaced, readers see parts
// that do not fit together, and refuse them.
func (f Files) Replace(id Identity) error {
	return f.write(id, func(path string, data []byte, mode os.FileMode) error {
		if err := durable.Replace(path, data, true); err != nil {
			return err
		}
		return os.Chmod(path, mode)
	})
}

func (f Files) write(id Identity, put func(path string, data []byte, mode os.FileMode) error) error {
	if id.IsZero() {
		return errors.New("write identity: it is empty")
	}
	if f.Cert == f.Key {
		all, err := id.MarshalPEM()
		if err != nil {
			return err
		}
		return put(f.Cert, all, 0o600)
	}
	key, err := x509.MarshalPKCS8PrivateKey(id.key)
	if err != nil {
		return fmt.Errorf("write identity %s: %w", id, err)
	}
	for _, part := range []struct {
		path string
		data []byte
		mode os.FileMode
	}{{f.CA, certsPEM(id.cas), 0o644}, {f.Key,
		pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: key}), 0o600},
		{f.Cert, certsPEM(append([]*x509.Certificate{id.cert}, id.chain...)), 0o644}} {
		if err := put(part.path, part.data, part.mode); err != nil {
			return fmt.Errorf("write identity %s: %w", id, err)
		}
	}
	return nil
}

func writeNew(path string, data []byte, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Check returns an error if an identity cannot serve at a host now: that its certificate is not good
// for the host, or not at this time.
func (id Identity) Check(host string, now time.Time) error {
	if now.Before(id.cert.NotBefore) || now.After(id.cert.NotAfter) {
		return fmt.Errorf("certificate of %s: it is good from %s to %s: issue another, or set the clock", id,
			id.cert.NotBefore.Format(time.RFC3339), id.cert.NotAfter.Format(time.RFC3339))
	}
	if err := id.cert.VerifyHostname(host); err != nil {
		return fmt.Errorf("certificate of %s: it is good for %v and %v, and not for %q: issue another",
			id, id.cert.DNSNames,
			addressTexts(id.cert.IPAddresses), host)
	}
	return nil
}

func addressTexts(all []net.IP) (out []string) {
	for _, ip := range all {
		out = append(out, ip.String())
	}
	return out
}

// WriteFile writes an authority with its key to a new file that only its owner can read. With this file
// one can issue any identity.
func (a *Authority) WriteFile(path string) error {
	key, err := x509.MarshalPKCS8PrivateKey(a.key)
	if err == nil {
		text := pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: a.cert.Raw})
		err = writeNew(path, append(text, pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: key})...), 0o600)
	}
	if err != nil {
		return fmt.Errorf("write authority: %w", err)
	}
	return nil
}

// ReadAuthority reads what Authority.WriteFile wrote.
func ReadAuthority(path string) (*Authority, error) {
	fail := func(err error) (*Authority, error) {
		return nil, fmt.Errorf("read authority %q: %w", filepath.Clean(path), err)
	}
	text, err := readBounded(path)
	if err != nil {
		return fail(err)
	}
	return parseAuthority(text)
}

func parseAuthority(text []byte) (*Authority, error) {
	cert, rest := pem.Decode(text)
	key, _ := pem.Decode(rest)
	if cert == nil || key == nil {
		return nil, errors.New("parse authority: want a certificate and a key")
	}
	c, err := x509.ParseCertificate(cert.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse authority: %w", err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(key.Bytes)
	if err != nil {
		return nil, errors.New("parse authority: the key is not PKCS #8")
	}
	k, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || !k.PublicKey.Equal(c.PublicKey) || !c.IsCA {
		return nil, errors.New("parse authority: the key is not the certificate's, or that is no authority's")
	}
	return &Authority{cert: c, key: k}, nil
}
