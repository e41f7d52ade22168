package pki

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"os"
	"slices"
	"time"

	"lightloom/southbound/durable"
	"lightloom/southbound/hint"
)

// crlBlock is the block type of a revocation list.
const crlBlock = "X509 CRL"

// Revoke adds a certificate, by its serial number in hexadecimal digits, to the authority's revocation
// list in a file, which it makes if it is not there. The file is no secret, and nobody can change it
// without the authority's key.
func (a *Authority) Revoke(path, serial string, now time.Time) error {
	n, ok := new(big.Int).SetString(serial, 16)
	if !ok || n.Sign() <= 0 {
		return fmt.Errorf("revoke certificate %q: a serial number has hexadecimal digits", serial)
	}
	if err := a.relist(path, now, true, n); err != nil {
		return fmt.Errorf("revoke certificate %s: %w", serial, err)
	}
	return nil
}

// Relist leaves the authority's own revocation list in a file, and drops those of others.
func (a *Authority) Relist(path string, now time.Time) error {
	if err := a.relist(path, now, false); err != nil {
		return fmt.Errorf("write revocation list: %w", err)
	}
	return nil
}

// relist adds numbers to the authority's list in a file, beside those of others or without them.
func (a *Authority) relist(path string, now time.Time, beside bool, add ...*big.Int) error {
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: now, NextUpdate: a.cert.NotAfter}
	old, err := readLists(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var text []byte
	for _, l := range old {
		switch {
		case l.CheckSignatureFrom(a.cert) == nil:
			list.RevokedCertificateEntries = l.RevokedCertificateEntries
			list.Number = new(big.Int).Add(l.Number, big.NewInt(1))
		case beside:
			text = append(text, pem.EncodeToMemory(&pem.Block{Type: crlBlock, Bytes: l.Raw})...)
		}
	}
	for _, n := range add {
		if !slices.ContainsFunc(list.RevokedCertificateEntries, func(e x509.RevocationListEntry) bool {
			return e.SerialNumber.Cmp(n) == 0
		}) {
			list.RevokedCertificateEntries = append(list.RevokedCertificateEntries,
				x509.RevocationListEntry{SerialNumber: n, RevocationTime: now})
		}
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.cert, a.key)
	if err != nil {
		return hint.Wrap(fmt.Errorf("sign list: %w", err),
			"an authority of an earlier version cannot: make another")
	}
	text = append(text, pem.EncodeToMemory(&pem.Block{Type: crlBlock, Bytes: der})...)
	if err := durable.Replace(path, text, true); err != nil {
		return err
	}
	return os.Chmod(path, 0o644)
}

// maxLists bounds a file of revocation lists.
const maxLists = 16 << 20

func readLists(path string) ([]*x509.RevocationList, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read revocation list: %w", err)
	}
	if st.Size() > maxLists {
		return nil, fmt.Errorf("read revocation list %q: %d bytes, at most %d are taken", path,
			st.Size(), maxLists)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read revocation list: %w", err)
	}
	lists, err := parseLists(data)
	if err != nil {
		return nil, fmt.Errorf("read revocation list %q: %w", path, err)
	}
	return lists, nil
}

func parseLists(data []byte) (out []*x509.RevocationList, err error) {
	for b, rest := pem.Decode(data); b != nil; b, rest = pem.Decode(rest) {
		if b.Type != crlBlock {
			return nil, fmt.Errorf("a block %s where %s is due", b.Type, crlBlock)
		}
		l, err := x509.ParseRevocationList(b.Bytes)
		if err != nil {
			return nil, err
		}
		if l.Number == nil {
			return nil, errors.New("a list has no number")
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, errors.New("it holds no " + crlBlock)
	}
	return out, nil
}

// withdraw takes the lists of authorities that are trusted, and refuses any other list.
func (t *Trust) withdraw(lists []*x509.RevocationList) error {
	all := t.own
	for _, r := range Roles() {
		all = append(all[:len(all):len(all)], t.foreign[r]...)
	}
	for _, l := range lists {
		signed := false
		for _, ca := range all {
			signed = signed || l.CheckSignatureFrom(ca) == nil
		}
		if !signed {
			return fmt.Errorf("the list of %v is signed by no authority that is trusted", l.Issuer)
		}
		for _, e := range l.RevokedCertificateEntries {
			t.revoked[serialOf(l.RawIssuer, e.SerialNumber.Bytes())] = true
		}
	}
	return nil
}

// RevokedSerials returns the numbers of revoked certificates in a file, in hexadecimal digits. Whoever
// signed its lists is not checked.
func RevokedSerials(path string) (map[string]bool, error) {
	lists, err := readLists(path)
	if err != nil {
		return nil, err
	}
	out := map[string]bool{}
	for _, l := range lists {
		for _, e := range l.RevokedCertificateEntries {
			out[e.SerialNumber.Text(16)] = true
		}
	}
	return out, nil
}
