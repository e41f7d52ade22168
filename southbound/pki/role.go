package pki

import (
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// Role is what the holder of a certificate may act as.
type Role string

// The roles.
const (
	Controller Role = "controller" // a replica: programs devices and hosts, speaks raft with its peers
	Switch     Role = "switch"     // a gNMI target
	Agent      Role = "agent"      // the agent of the hosts
	Client     Role = "client"     // a user's tool on the northbound API
)

// Roles returns every role.
func Roles() []Role { return []Role{Controller, Switch, Agent, Client} }

// The role travels as a URI among the certificate's subject alternative names: lightloom://ROLE/NAME.
const scheme = "lightloom"

func roleURI(r Role, name string) *url.URL {
	return &url.URL{Scheme: scheme, Host: string(r), Path: "/" + name}
}

// roleOf reads the role and name that the authority wrote; a certificate without exactly one such URI
// has none.
func roleOf(c *x509.Certificate) (Role, string, error) {
	var found []*url.URL
	for _, u := range c.URIs {
		if u.Scheme == scheme {
			found = append(found, u)
		}
	}
	if len(found) == 0 {
		return "", "", fmt.Errorf("certificate %q: %w", c.Subject.CommonName, errNoRole)
	}
	if len(found) != 1 {
		return "", "", fmt.Errorf("read role of certificate %q: it has %d role names, want one",
			c.Subject.CommonName,
			len(found))
	}
	r := Role(found[0].Host)
	if !slices.Contains(Roles(), r) {
		return "", "", fmt.Errorf("read role of certificate %q: role %q is unknown (known: %v)",
			c.Subject.CommonName, r,
			Roles())
	}
	return r, strings.TrimPrefix(found[0].Path, "/"), nil
}

// errNoRole marks a certificate of an authority that does not know our roles.
var errNoRole = errors.New("it names no role")

// maxForeignName bounds a name that a foreign authority has written.
const maxForeignName = 128

// foreignName returns whom a certificate without a role of ours is of: its first DNS name, else e-mail
// address, else common name.
func foreignName(c *x509.Certificate) (string, error) {
	name := c.Subject.CommonName
	if len(c.EmailAddresses) > 0 {
		name = c.EmailAddresses[0]
	}
	if len(c.DNSNames) > 0 {
		name = c.DNSNames[0]
	}
	strange := func(r rune) bool { return !unicode.IsPrint(r) }
	if name == "" || len(name) > maxForeignName || strings.ContainsFunc(name, strange) {
		return "", fmt.Errorf("certificate %q: it has no name of 1 to %d printable bytes",
			c.SerialNumber.Text(16),
			maxForeignName)
	}
	return name, nil
}

// NameOf returns the name in the certificate of a switch or host: its own where a certificate can hold
// that, else one made of its letters and digits, with a digest of the whole so that "St. Louis" and "St
// Louis" stay apart.
func NameOf(node string) string {
	if checkName(node) == nil {
		return node
	}
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, node)
	sum := sha256.Sum256([]byte(node))
	return fmt.Sprintf("x%.40s-%x", plain, sum[:4])
}

// checkName takes what a DNS name and a URI path can hold unescaped.
func checkName(name string) error {
	ok := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.'
	}
	if name == "" || len(name) > 63 || strings.Trim(name, "-.") != name || strings.Contains(name, "..") ||
		strings.ContainsFunc(name, func(r rune) bool { return !ok(r) }) {
		return fmt.Errorf("name %q: use 1 to 63 letters, digits, '-' and '.', with a letter or digit at both ends", name)
	}
	return nil
}
