package gnmi

import (
	"context"
	"log/slog"
)

// Login is a user's name and password, which devices expect beside every call. It prints without its
// password.
type Login struct{ User, Password string }

// GetRequestMetadata implements credentials.PerRPCCredentials, by the gNMI specification's
// authentication section.
func (l *Login) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"username": l.User, "password": l.Password}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials: gRPC refuses to send it in the clear.
func (l *Login) RequireTransportSecurity() bool { return true }

func (l *Login) String() string { return "user " + l.User }

// GoString keeps the password out of %#v.
func (l *Login) GoString() string { return "gnmi.Login(" + l.User + ")" }

// LogValue keeps the password out of logs.
func (l *Login) LogValue() slog.Value { return slog.StringValue(l.User) }
