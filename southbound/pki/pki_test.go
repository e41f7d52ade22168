package pki

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func authority(t testing.TB) *Authority {
	t.Helper()
	a, err := New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t testing.TB, a *Authority, r Role, name string) Identity {
	t.Helper()
	id, err := a.Issue(r, name)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// handshake returns each side's error.
func handshake(t *testing.T, server, client *tls.Config) (serverErr, clientErr error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	a, b := net.Pipe()
	s, c := tls.Server(a, server), tls.Client(b, client)
	done := make(chan error, 1)
	go func() {
		err := s.HandshakeContext(ctx)
		if err == nil {
			_, err = s.Write([]byte{1})
		}
		a.Close()
		done <- err
	}()
	clientErr = c.HandshakeContext(ctx)
	if clientErr == nil { // in TLS 1.3 a client learns of its refusal with the first read
		_, clientErr = c.Read(make([]byte, 1))
	}
	b.Close()
	return <-done, clientErr
}

func TestHandshake(t *testing.T) {
	ours, foreign := authority(t), authority(t)
	now := time.Now()
	sw, ctl := issue(t, ours, Switch, "tor3"), issue(t, ours, Controller, "c1")
	expired := func(r Role, name string) Identity {
		id, err := ours.issue(r, name, []string{"localhost", "127.0.0.1", "::1"}, now.Add(-time.Hour),
			now.Add(-time.Minute))
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	tests := []struct {
		name           string
		server, client *tls.Config
		serverErr      string
		clientErr      string
	}{
		{name: "good", server: sw.Server(Controller), client: ctl.Client("tor3", Switch)},
		{name: "good by localhost", server: sw.Server(Controller), client: ctl.Client("localhost", Switch)},
		{name: "good by address", server: sw.Server(Controller), client: ctl.Client("127.0.0.1", Switch)},
		{name: "one of several roles", server: sw.Server(Client, Controller),
			client: ctl.Client("tor3", Switch)},
		{name: "client of a wrong role", server: sw.Server(Agent), client: ctl.Client("tor3", Switch),
			serverErr: "role is controller"},
		{name: "no role allowed", server: sw.Server(), client: ctl.Client("tor3", Switch),
			serverErr: "role is controller"},
		{name: "server of a wrong role", server: sw.Server(Controller), client: ctl.Client("tor3", Agent),
			clientErr: "role is switch"},
		{name: "server of another name", server: sw.Server(Controller), client: ctl.Client("tor4", Switch),
			clientErr: "tor4"},
		{name: "foreign client", server: sw.Server(Controller), client: issue(t, foreign, Controller, "c1").
			Client("tor3", Switch), clientErr: "unknown authority"},
		{name: "foreign server", server: issue(t, foreign, Switch, "tor3").Server(Controller),
			client: ctl.Client("tor3", Switch), clientErr: "unknown authority"},
		{name: "expired client", server: sw.Server(Controller),
			client:    expired(Controller, "c1").Client("tor3", Switch),
			serverErr: "expired"},
		{name: "expired server", server: expired(Switch, "tor3").Server(Controller),
			client:    ctl.Client("tor3", Switch),
			clientErr: "expired"},
		{name: "client without certificate", server: sw.Server(Controller),
			client:    without(ctl.Client("tor3", Switch)),
			serverErr: "certificate"},
		{name: "old protocol", server: sw.Server(Controller), client: old(ctl.Client("tor3", Switch)),
			serverErr: "version"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			serverErr, clientErr := handshake(t, tt.server, tt.client)
			if tt.serverErr == "" && tt.clientErr == "" {
				if serverErr != nil || clientErr != nil {
					t.Fatalf("server: %v, client: %v", serverErr, clientErr)
				}
				return
			}
			if serverErr == nil || clientErr == nil {
				t.Fatalf("one side took it: server: %v, client: %v", serverErr, clientErr)
			}
			if !strings.Contains(serverErr.Error(), tt.serverErr) ||
				!strings.Contains(clientErr.Error(), tt.clientErr) {
				t.Fatalf("server: %v (want %q), client: %v (want %q)", serverErr, tt.serverErr,
					clientErr, tt.clientErr)
			}
		})
	}
}

func without(c *tls.Config) *tls.Config { c.Certificates = nil; return c }

func old(c *tls.Config) *tls.Config {
	c.MinVersion, c.MaxVersion = tls.VersionTLS12, tls.VersionTLS12
	return c
}

func TestIssueRefuses(t *testing.T) {
	a := authority(t)
	for _, name := range []string{"", "a b", "-a", "a.", "a..b", "tor/3", "ä", strings.Repeat("x", 64)} {
		if _, err := a.Issue(Switch, name); err == nil {
			t.Errorf("name %q was taken", name)
		}
	}
	if _, err := a.Issue("king", "a"); err == nil || !strings.Contains(err.Error(), "controller") {
		t.Errorf("unknown role: %v", err)
	}
	if _, err := New(0); err == nil {
		t.Error("life 0 was taken")
	}
}

func TestPEM(t *testing.T) {
	a := authority(t)
	id := issue(t, a, Agent, "hosts")
	path := filepath.Join(t.TempDir(), "id.pem")
	if err := id.WriteFile(path); err != nil {
		t.Fatal(err)
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Fatalf("mode %v, %v", st.Mode(), err)
	}
	if err := id.WriteFile(path); err == nil {
		t.Error("an existing file was overwritten")
	}
	back, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if back.Role() != Agent || back.Name() != "hosts" {
		t.Errorf("got %v", back)
	}
	if s, c := handshake(t, back.Server(Controller),
		issue(t, a, Controller, "c1").Client("hosts", Agent)); s != nil ||
		c != nil {
		t.Errorf("server: %v, client: %v", s, c)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a file that others may read: %v", err)
	}
}

func TestParseIdentityRefuses(t *testing.T) {
	a := authority(t)
	pem := func(id Identity) string {
		b, err := id.MarshalPEM()
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	one, two := pem(issue(t, a, Agent, "a")), pem(issue(t, a, Agent, "b"))
	other := pem(issue(t, authority(t), Agent, "a"))
	split := func(s string) (parts [3]string) {
		for i := range parts {
			end := strings.Index(s, "-----END ")
			end += strings.Index(s[end:], "\n") + 1
			parts[i], s = s[:end], s[end:]
		}
		return parts
	}
	p, q, o := split(one), split(two), split(other)
	for name, text := range map[string]string{
		"empty":             "",
		"cut":               one[:len(one)/2],
		"order":             p[1] + p[0] + p[2],
		"another's key":     p[0] + q[1] + p[2],
		"another authority": p[0] + p[1] + o[2],
		"too long":          one + strings.Repeat("x", maxPEM),
	} {
		if _, err := ParseIdentity([]byte(text)); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := (Identity{}).MarshalPEM(); err == nil {
		t.Error("the empty identity was marshalled")
	}
}

func TestKeyIsNotPrinted(t *testing.T) {
	id := issue(t, authority(t), Switch, "ocs")
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "id", id)
	for _, s := range []string{fmt.Sprint(id), fmt.Sprintf("%+v", id), fmt.Sprintf("%#v", id),
		fmt.Sprintf("%v", &id)} {
		if s != "switch/ocs" && s != "pki.Identity(switch/ocs)" {
			t.Errorf("printed: %s", s)
		}
	}
	if !strings.Contains(log.String(), `"id":"switch/ocs"`) {
		t.Errorf("logged: %s", log.String())
	}
}

func FuzzParseIdentity(f *testing.F) {
	b, err := issue(f, authority(f), Client, "me").MarshalPEM()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		id, err := ParseIdentity(data)
		if err == nil && id.IsZero() {
			t.Fatal("no error and no identity")
		}
	})
}
