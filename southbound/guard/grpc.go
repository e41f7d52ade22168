package guard

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"

	"google.golang.org/grpc/credentials"
)

// GRPC returns c as a gRPC server behind a guard needs it: its clients speak HTTP/2.
func GRPC(c *tls.Config) *tls.Config {
	c = c.Clone()
	if !slices.Contains(c.NextProtos, "h2") {
		c.NextProtos = append(c.NextProtos, "h2")
	}
	return c
}

// Credentials returns what a gRPC server behind a guard takes connections with: their handshake is
// over, and the peer's certificates are found where credentials.NewTLS leaves them.
func Credentials() credentials.TransportCredentials {
	return done{credentials.NewTLS(&tls.Config{MinVersion: tls.VersionTLS12})}
}

type done struct {
	credentials.TransportCredentials
}

// ServerHandshake implements credentials.TransportCredentials.
func (done) ServerHandshake(c net.Conn) (net.Conn, credentials.AuthInfo, error) {
	t, ok := c.(*tls.Conn)
	if !ok {
		return nil, nil, errors.New("take connection: it has not come through a guard")
	}
	s := t.ConnectionState()
	if s.NegotiatedProtocol != "h2" {
		return nil, nil, fmt.Errorf("take connection: the client speaks %q, want HTTP/2", s.NegotiatedProtocol)
	}
	return t, credentials.TLSInfo{State: s,
		CommonAuthInfo: credentials.CommonAuthInfo{SecurityLevel: credentials.PrivacyAndIntegrity}}, nil
}

// Clone implements credentials.TransportCredentials.
func (d done) Clone() credentials.TransportCredentials { return d }
