package lab

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
)

// maxSecret bounds a secret's file, in bytes.
const maxSecret = 4096

// at returns a path of the file: a relative one starts in the file's directory.
func (f *File) at(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(f.dir, path)
}

// secret reads what a reference names. Errors never show it.
func (f *File) secret(ref string, getenv func(string) string) (string, error) {
	if name, ok := strings.CutPrefix(ref, "env:"); ok {
		v := getenv(name)
		if v == "" {
			return "", fmt.Errorf("the environment variable %q is not set", name)
		}
		return v, nil
	}
	path, _ := strings.CutPrefix(ref, "file:")
	file, err := os.Open(f.at(path))
	if err != nil {
		return "", err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxSecret+1))
	if err != nil {
		return "", err
	}
	v := strings.TrimRight(string(data), "\r\n")
	if v == "" || len(data) > maxSecret {
		return "", fmt.Errorf("%q is empty or longer than %d bytes", path, maxSecret)
	}
	return v, nil
}

func (f *File) tls(d *Device) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: d.TLS.ServerName}
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(d.Address)
	}
	if d.TLS.CA != "" {
		data, err := os.ReadFile(f.at(d.TLS.CA))
		if err != nil {
			return nil, fmt.Errorf("authority: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(data) {
			return nil, fmt.Errorf("authority %q: no certificate in it", d.TLS.CA)
		}
	}
	if d.TLS.Cert == "" {
		return c, nil
	}
	pair, err := tls.LoadX509KeyPair(f.at(d.TLS.Cert), f.at(d.TLS.Key))
	if err != nil {
		return nil, fmt.Errorf("certificate %q with key %q: %w", d.TLS.Cert, d.TLS.Key, err)
	}
	c.Certificates = []tls.Certificate{pair}
	return c, nil
}

// Secret reads what a reference, "env:NAME" or "file:PATH", names; getenv is os.Getenv. Errors never show it.
func Secret(ref string, getenv func(string) string) (string, error) {
	if !strings.HasPrefix(ref, "env:") && !strings.HasPrefix(ref, "file:") {
		return "", errors.New("a secret is named, not written: write env:NAME or file:PATH")
	}
	return (&File{dir: "."}).secret(ref, getenv)
}

// Client returns how a TLS server at address is trusted, with our certificate where t has one. Paths are as they stand.
func (t TLS) Client(address string) (*tls.Config, error) {
	return (&File{dir: "."}).tls(&Device{Address: address, TLS: t})
}
