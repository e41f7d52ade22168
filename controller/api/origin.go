package api

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"

	"connectrpc.com/connect"
)

// atHome refuses what a browser sends for a page that is not this replica's own: such a page can have
// it call with its user's certificate. It also refuses a name that the replica's certificate is not
// good for: somebody else's name may lead to the replica's address, and a page of that name would count
// as its own.
func (s *Server) atHome(next http.Handler) http.Handler {
	var own ownNames
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := foreign(r)
		if err == nil && r.TLS != nil {
			err = own.check(s.cfg.ServerTLS, r.Host)
		}
		if err != nil {
			err = &Error{Denied, fmt.Errorf("%s: %w", r.URL.Path, err)}
			s.denied(Caller{}, r.URL.Path, err)
			_ = connect.NewErrorWriter().Write(w, r, encode(err)) // the caller has gone
			return
		}
		next.ServeHTTP(w, r)
	})
}

// foreign returns an error for a request that a page of another origin makes.
func foreign(r *http.Request) error {
	site := r.Header.Get("Sec-Fetch-Site")
	if !slices.Contains([]string{"", "none", "same-origin"}, site) {
		return fmt.Errorf("a %s page calls", site)
	}
	text := r.Header.Get("Origin")
	if text == "" {
		return nil
	}
	if o, err := url.Parse(text); err != nil || o.Host != r.Host {
		return fmt.Errorf("a page of %.100q calls", text)
	}
	return nil
}

// ownNames checks names against the newest certificate of a server.
type ownNames struct {
	leaf atomic.Pointer[x509.Certificate]
}

func (o *ownNames) check(c *tls.Config, at string) error {
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		host = at
	}
	leaf, err := o.current(c, host)
	if err == nil {
		err = leaf.VerifyHostname(host)
	}
	if err != nil {
		return fmt.Errorf("this replica has not the name %.100q: %w", host, err)
	}
	return nil
}

func (o *ownNames) current(c *tls.Config, host string) (*x509.Certificate, error) {
	var now *tls.Certificate
	switch {
	case c.GetCertificate != nil:
		var err error
		if now, err = c.GetCertificate(&tls.ClientHelloInfo{ServerName: host}); err != nil {
			return nil, err
		}
	case len(c.Certificates) > 0:
		now = &c.Certificates[0]
	}
	if now == nil || len(now.Certificate) == 0 {
		return nil, errors.New("it has no certificate")
	}
	if leaf := o.leaf.Load(); leaf != nil && bytes.Equal(leaf.Raw, now.Certificate[0]) {
		return leaf, nil
	}
	leaf, err := x509.ParseCertificate(now.Certificate[0])
	if err == nil {
		o.leaf.Store(leaf)
	}
	return leaf, err
}
