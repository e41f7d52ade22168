package target

import (
	"context"
	"crypto/subtle"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Login is a user's name and password that every call must bring, as metadata or as basic
// authentication. The zero value asks for none.
type Login struct{ User, Password string }

// same compares in a time that does not depend on where two differ.
func (l Login) same(user, password string) bool {
	return subtle.ConstantTimeCompare([]byte(l.User), []byte(user))&
		subtle.ConstantTimeCompare([]byte(l.Password), []byte(password)) == 1
}

func (l Login) check(ctx context.Context) error {
	md, _ := metadata.FromIncomingContext(ctx)
	one := func(key string) string {
		if v := md.Get(key); len(v) == 1 {
			return v[0]
		}
		return ""
	}
	if !l.same(one("username"), one("password")) {
		return status.Error(codes.Unauthenticated, "wrong user name or password")
	}
	return nil
}

func (l Login) options() []grpc.ServerOption {
	if l == (Login{}) {
		return nil
	}
	return []grpc.ServerOption{
		grpc.UnaryInterceptor(func(ctx context.Context, req any, _ *grpc.UnaryServerInfo,
			next grpc.UnaryHandler) (any, error) {
			if err := l.check(ctx); err != nil {
				return nil, err
			}
			return next(ctx, req)
		}),
		grpc.StreamInterceptor(func(srv any, s grpc.ServerStream, _ *grpc.StreamServerInfo,
			next grpc.StreamHandler) error {
			if err := l.check(s.Context()); err != nil {
				return err
			}
			return next(srv, s)
		}),
	}
}
