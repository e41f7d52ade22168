package pki

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pair is a server and a client whose keys are files of one directory, with the authority that has
// signed them.
type pair struct {
	dir            string
	ca             *Authority
	server, client Files
	revoked        string
}

func newPair(t *testing.T) pair {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	p := pair{dir, authority(t), Files{at("s.crt"), at("s.key"), at("s.ca")},
		Files{at("c.pem"), at("c.pem"), at("c.pem")},
		at("revoked.pem")}
	if err := errors.Join(p.server.Write(issue(t, p.ca, Controller, "r0")),
		p.client.Write(issue(t, p.ca, Client, "ann"))); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p pair) open(t *testing.T, trust map[Role]string) (server, client *Source) {
	t.Helper()
	server, err := Open(Paths{Files: p.server, Revoked: p.revoked, Trust: trust})
	if err != nil {
		t.Fatal(err)
	}
	client, err = Open(Paths{Files: p.client, Revoked: p.revoked})
	if err != nil {
		t.Fatal(err)
	}
	return server, client
}

func reload(t *testing.T, want bool, all ...*Source) {
	t.Helper()
	for _, s := range all {
		if changed, err := s.Reload(); err != nil || changed != want {
			t.Fatalf("%v: changed %v, %v", s.Identity(), changed, err)
		}
	}
}

// TestSourceFollowsItsFiles: configurations made once renew their certificate, take a new authority in
// beside the old one, let the old one go, and refuse a revoked certificate, also on a connection that
// is open.
func TestSourceFollowsItsFiles(t *testing.T) {
	p := newPair(t)
	server, client := p.open(t, nil)
	s, c := server.Server(Client), client.Client("r0", Controller)
	good := func(when string) {
		t.Helper()
		if se, ce := handshake(t, s, c); se != nil || ce != nil {
			t.Fatalf("%s: server %v, client %v", when, se, ce)
		}
	}
	renew := func(ca *Authority, f Files) {
		t.Helper()
		old, err := f.Read()
		if err != nil {
			t.Fatal(err)
		}
		id, err := ca.Renew(old, time.Now(), time.Minute, false)
		if err == nil {
			err = f.Replace(id)
		}
		if err != nil {
			t.Fatal(err)
		}
		if id.Serial() == old.Serial() || id.String() != old.String() {
			t.Fatalf("renewed %v to %v", old, id)
		}
	}
	good("at first")
	reload(t, false, server, client)
	renew(p.ca, p.server)
	renew(p.ca, p.client)
	reload(t, true, server, client)
	good("renewed")

	next := authority(t)
	renew(next, p.server) // it still trusts the first
	reload(t, true, server)
	if _, ce := handshake(t, s, c); ce == nil {
		t.Fatal("a client takes an authority that it does not know")
	}
	renew(next, p.client)
	reload(t, true, client)
	good("with another authority")

	st := tls.ConnectionState{PeerCertificates: chainOf(client.Identity())}
	if _, name, err := server.Peer(st, Client); err != nil || name != "ann" {
		t.Fatal(name, err)
	}
	if err := next.Revoke(p.revoked, client.Identity().Serial(), time.Now()); err != nil {
		t.Fatal(err)
	}
	reload(t, true, server)
	if se, _ := handshake(t, s, c); !errors.Is(se, ErrRevoked) {
		t.Fatalf("revoked: %v", se)
	}
	if _, _, err := server.Peer(st, Client); !errors.Is(err, ErrRevoked) {
		t.Fatalf("revoked, on an open connection: %v", err)
	}
	renew(next, p.client)
	reload(t, true, client)
	good("renewed after it was revoked")
}

func chainOf(id Identity) (out []*x509.Certificate) { return append(out, id.cert) }

// TestSourceKeepsWhatItHas: files that do not fit together, are of somebody else or have ended change
// nothing.
func TestSourceKeepsWhatItHas(t *testing.T) {
	for name, spoil := range map[string]func(*testing.T, pair){
		"only the certificate is new": func(t *testing.T, p pair) {
			other := Files{filepath.Join(p.dir, "x.crt"), filepath.Join(p.dir, "x.key"),
				filepath.Join(p.dir, "x.ca")}
			err := other.Write(issue(t, p.ca, Controller, "r0"))
			if err = errors.Join(err, os.Rename(other.Cert, p.server.Cert)); err != nil {
				t.Fatal(err)
			}
		},
		"of another replica": func(t *testing.T, p pair) {
			if err := p.server.Replace(issue(t, p.ca, Controller, "r1")); err != nil {
				t.Fatal(err)
			}
		},
		"ended": func(t *testing.T, p pair) {
			now := time.Now()
			id, err := p.ca.issue(Controller, "r0", []string{"localhost"}, now.Add(-time.Hour),
				now.Add(-time.Minute))
			if err == nil {
				err = p.server.Replace(id)
			}
			if err != nil {
				t.Fatal(err)
			}
		},
		"empty": func(t *testing.T, p pair) {
			if err := os.WriteFile(p.server.Cert, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"revocations of a stranger": func(t *testing.T, p pair) {
			if err := authority(t).Revoke(p.revoked, "1", time.Now()); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t)
			server, client := p.open(t, nil)
			before := server.Identity().Serial()
			spoil(t, p)
			if changed, err := server.Reload(); err == nil || changed {
				t.Fatalf("changed %v, %v", changed, err)
			}
			if server.Identity().Serial() != before {
				t.Error("it took them")
			}
			if se, ce := handshake(t, server.Server(Client),
				client.Client("r0", Controller)); se != nil || ce != nil {
				t.Errorf("server %v, client %v", se, ce)
			}
		})
	}
}

// foreign issues a certificate as other authorities do: without a role of ours.
func foreign(t *testing.T, a *Authority, mail string) Identity {
	t.Helper()
	key, serial, err := keyAndSerial()
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{SerialNumber: serial,
		Subject: pkix.Name{CommonName: "Ann"}, EmailAddresses: []string{mail}, NotBefore: a.cert.NotBefore,
		NotAfter: a.cert.NotAfter}, a.cert, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	c, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	id, err := newIdentity([]*x509.Certificate{c}, key, []*x509.Certificate{a.cert})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// TestTrustByRole: an authority that vouches for peers of one role vouches for no other, whatever it
// writes into its certificates, and a certificate without a role has that of its authority.
func TestTrustByRole(t *testing.T) {
	p, theirs := newPair(t), authority(t)
	path := filepath.Join(p.dir, "theirs.pem")
	if err := os.WriteFile(path, certsPEM([]*x509.Certificate{theirs.cert}), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := foreign(t, theirs, "ann@example.net")
	for _, tc := range []struct {
		name  string
		peer  Identity
		trust map[Role]string
		allow []Role
		want  string // role and name; "": refused
	}{
		{"ours", issue(t, p.ca, Client, "ann"), nil, []Role{Client}, "client/ann"},
		{"theirs, unknown", issue(t, theirs, Client, "ann"), nil, []Role{Client}, ""},
		{"theirs, for clients", issue(t, theirs, Client, "ann"), map[Role]string{Client: path},
			[]Role{Client}, "client/ann"},
		{"ours, in their place", issue(t, p.ca, Client, "ann"), map[Role]string{Client: path},
			[]Role{Client}, ""},
		{"theirs as a controller", issue(t, theirs, Controller, "r1"), map[Role]string{Client: path},
			[]Role{Client, Controller}, ""},
		{"without a role", plain, map[Role]string{Client: path}, []Role{Client, Controller},
			"client/ann@example.net"},
		{"without a role, of agents", plain, map[Role]string{Agent: path}, []Role{Client}, ""},
		{"without a role, of two", plain, map[Role]string{Agent: path, Client: path}, []Role{Client}, ""},
		{"without a role, for controllers", plain, map[Role]string{Controller: path},
			[]Role{Client, Controller}, ""},
		{"without a role, unknown", plain, nil, []Role{Client, Controller}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server, _ := p.open(t, tc.trust)
			role, name, err := server.Peer(tls.ConnectionState{PeerCertificates: chainOf(tc.peer)}, tc.allow...)
			if got := string(role) + "/" + name; err == nil && got != tc.want || err != nil && tc.want != "" {
				t.Errorf("%s, %v; want %q", got, err, tc.want)
			}
		})
	}
}

// TestWatchWarns: at a fifth of its life, and not before, a certificate is spoken of once an hour.
func TestWatchWarns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ca, err := New(100 * time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		s := Static(issue(t, ca, Switch, "tor0"))
		var log strings.Builder
		watch := func(d time.Duration) {
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			s.Watch(ctx, time.Minute, slog.New(slog.NewTextHandler(&log, nil)))
		}
		watch(79 * time.Hour)
		if log.Len() > 0 {
			t.Fatalf("too early: %s", log.String())
		}
		watch(4 * time.Hour)
		if n := strings.Count(log.String(), "renew it"); n < 3 || n > 4 {
			t.Errorf("warned %d times in 3 hours: %s", n, log.String())
		}
	})
}

func FuzzParseLists(f *testing.F) {
	path := filepath.Join(f.TempDir(), "revoked.pem")
	if err := authority(f).Revoke(path, "abc", time.Now()); err != nil {
		f.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		lists, err := parseLists(text)
		if err == nil && len(lists) == 0 {
			t.Fatal("no error and no list")
		}
		trust := &Trust{revoked: map[string]bool{}}
		if trust.withdraw(lists) == nil && len(lists) > 0 || len(trust.revoked) > 0 {
			t.Fatal("the list of an authority that nobody trusts was taken")
		}
	})
}
