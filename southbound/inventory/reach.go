package inventory

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/plaintext"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/pki"
)

// maxSecret bounds a secret's file, in bytes.
const maxSecret = 4096

// Config returns what the driver needs to reach the switch that is node n of a fabric. What its record
// leaves out is as with switches of ours: they speak ocp or openconfig, and have a certificate of the
// authority that by has its own of.
func (all Devices) Config(f *topo.Fabric, n pathmap.NodeID, by pki.Credentials,
	getenv func(string) string) (gnmi.Config, error) {
	found, err := all.Find(f.Topology.Node(n).Name)
	if err != nil {
		return gnmi.Config{}, err
	}
	d := found.within(f, n)
	d.Flags.ControllerBackup = true
	c, err := d.Config(getenv)
	if err == nil && d.TLS == (TLS{}) {
		c.TLS = by.Client(pki.NameOf(d.Name), pki.Switch)
	}
	return c, err
}

// Config returns what the driver needs to reach a device. It reads certificates and secrets; getenv is
// os.Getenv.
func (d *Device) Config(getenv func(string) string) (gnmi.Config, error) {
	fail := func(err error) (gnmi.Config, error) {
		return gnmi.Config{}, fmt.Errorf("open device %q: %w", d.Name, err)
	}
	all, err := d.profiles()
	if err != nil {
		return fail(err)
	}
	c := gnmi.Config{Name: d.Name, Addr: d.Address, Device: southbound.DeviceID(d.ID),
		SendRole: d.Flags.SendRole,
		Trust:    d.Flags.TrustProfile, Plaintext: d.TLS.Plaintext}
	if c.Choose = all; d.Profile != AutoProfile {
		c.Profile, c.Choose = all[0], nil
	}
	if !d.TLS.Plaintext {
		if c.TLS, err = d.TLS.Client(d.Address); err != nil {
			return fail(err)
		}
	}
	if d.Credentials.Username != "" {
		c.Login = &gnmi.Login{}
		if c.Login.User, err = Secret(d.Credentials.Username, getenv); err != nil {
			return fail(fmt.Errorf("username: %w", err))
		}
		if c.Login.Password, err = Secret(d.Credentials.Password, getenv); err != nil {
			return fail(fmt.Errorf("password: %w", err))
		}
	}
	return c, nil
}

// startIn has relative paths start in dir.
func (d *Device) startIn(dir string) {
	at := func(path string) string {
		if path == "" || filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(dir, path)
	}
	for _, path := range []*string{&d.TLS.CA, &d.TLS.Cert, &d.TLS.Key} {
		*path = at(*path)
	}
	for _, ref := range []*string{&d.Credentials.Username, &d.Credentials.Password} {
		if path, ok := strings.CutPrefix(*ref, "file:"); ok {
			*ref = "file:" + at(path)
		}
	}
}

func isReference(s string) bool { return strings.HasPrefix(s, "env:") || strings.HasPrefix(s, "file:") }

// Secret reads what a reference, "env:NAME" or "file:PATH", names; getenv is os.Getenv. Errors never
// show it.
func Secret(ref string, getenv func(string) string) (string, error) {
	if !isReference(ref) {
		return "", errors.New("a secret is named, not written: write env:NAME or file:PATH")
	}
	if name, ok := strings.CutPrefix(ref, "env:"); ok {
		v := getenv(name)
		if v == "" {
			return "", fmt.Errorf("the environment variable %q is not set", name)
		}
		return v, nil
	}
	path, _ := strings.CutPrefix(ref, "file:")
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(plaintext.NewReader(file), maxSecret+1))
	if err != nil {
		return "", err
	}
	v := strings.TrimRight(string(data), "\r\n")
	if v == "" || len(data) > maxSecret {
		return "", fmt.Errorf("%q is empty or longer than %d bytes", path, maxSecret)
	}
	return v, nil
}

// Client returns how a TLS server at address is trusted, with our certificate where t has one. Paths
// are as they stand.
func (t TLS) Client(address string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	switch {
	case c.ServerName != "":
	case strings.HasPrefix(address, "unix:"):
		c.ServerName = "localhost"
	case IsURL(address):
		if u, err := url.Parse(address); err == nil {
			c.ServerName = u.Hostname()
		}
	default:
		c.ServerName, _, _ = net.SplitHostPort(address)
	}
	if t.CA != "" {
		data, err := os.ReadFile(t.CA)
		if err == nil {
			data, err = plaintext.Of(data)
		}
		if err != nil {
			return nil, fmt.Errorf("authority: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("authority %q: no certificate in it", t.CA)
		}
	}
	if t.Cert == "" {
		return c, nil
	}
	pair, err := tls.LoadX509KeyPair(t.Cert, t.Key)
	if err != nil {
		return nil, fmt.Errorf("certificate %q with key %q: %w", t.Cert, t.Key, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}
