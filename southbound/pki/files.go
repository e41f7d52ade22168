package pki

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Files are where an identity stands whose three parts are apart, as other tools write them. A file that WriteFile
// wrote holds all three, and may be named three times.
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
	var all []byte
	for _, part := range []struct {
		path, block string
		last        bool
	}{{f.Cert, certBlock, false}, {f.Key, keyBlock, false}, {f.CA, certBlock, true}} {
		b, err := readBlock(part.path, part.block, part.last)
		if err != nil {
			return Identity{}, fmt.Errorf("read identity: %w", err)
		}
		all = append(all, b...)
	}
	id, err := ParseIdentity(all)
	if err != nil {
		return id, fmt.Errorf("read identity of %q: %w", f.Cert, err)
	}
	return id, nil
}

// readBlock reads the first PEM block of a kind that a file holds, or the last.
func readBlock(path, kind string, last bool) (found []byte, err error) {
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
	for b, rest := pem.Decode(data); b != nil; b, rest = pem.Decode(rest) {
		if b.Type == kind && (last || found == nil) {
			found = pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b.Bytes})
		}
	}
	if found == nil {
		return nil, fmt.Errorf("%q holds no %s in PEM", path, kind)
	}
	return found, nil
}

// Write writes an identity to new files: the key's only its owner may read. An existing file is an error.
func (f Files) Write(id Identity) error {
	all, err := id.MarshalPEM()
	if err != nil {
		return err
	}
	for _, part := range []struct {
		path string
		mode os.FileMode
	}{{f.Cert, 0o644}, {f.Key, 0o600}, {f.CA, 0o644}} {
		b, rest := pem.Decode(all)
		all = rest
		if err := writeNew(part.path, pem.EncodeToMemory(b), part.mode); err != nil {
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

// Check returns an error if an identity cannot serve at a host now: that its certificate is not good for the host, or
// not at this time.
func (id Identity) Check(host string, now time.Time) error {
	if now.Before(id.cert.NotBefore) || now.After(id.cert.NotAfter) {
		return fmt.Errorf("certificate of %s: it is good from %s to %s: issue another, or set the clock", id,
			id.cert.NotBefore.Format(time.RFC3339), id.cert.NotAfter.Format(time.RFC3339))
	}
	if err := id.cert.VerifyHostname(host); err != nil {
		return fmt.Errorf("certificate of %s: it is good for %v and %v, and not for %q: issue another", id, id.cert.DNSNames,
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

// WriteFile writes an authority with its key to a new file that only its owner can read. With this file one can issue
// any identity.
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
	cert, err := readBlock(path, certBlock, false)
	if err != nil {
		return fail(err)
	}
	key, err := readBlock(path, keyBlock, false)
	if err != nil {
		return fail(err)
	}
	return parseAuthority(bytes.Join([][]byte{cert, key}, nil))
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
