package northbound

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func testTime() time.Time { return time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC) }

// issue makes a certificate of its own authority, for a role, and returns the file that lightloom keys writes.
func issue(t *testing.T, role string, end time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.Add(-time.Hour), NotAfter: end, IsCA: true,
		BasicConstraintsValid: true, DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		URIs: []*url.URL{{Scheme: "lightloom", Host: role, Path: "/x"}}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(append(cert, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), cert...)
}

// TestRole: a server that is a switch of the same authority is no controller.
func TestRole(t *testing.T) {
	for _, role := range []string{"controller", "switch"} {
		keys := issue(t, role, time.Now().Add(time.Hour))
		pair, err := tls.X509KeyPair(keys, keys)
		if err != nil {
			t.Fatal(err)
		}
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("{}"))
		}))
		s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		s.StartTLS()
		defer s.Close()
		path := filepath.Join(t.TempDir(), "client.pem")
		if err := os.WriteFile(path, keys, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Dial([]string{s.Listener.Addr().String()}, path)
		if err != nil {
			t.Fatal(err)
		}
		err = c.once(t.Context(), c.bases[0], "GetFabric", []byte("{}"), &struct{}{})
		if (err == nil) != (role == "controller") {
			t.Errorf("%s: %v", role, err)
		}
	}
}

func TestKeysAreRefused(t *testing.T) {
	good := issue(t, "client", testTime().Add(time.Hour))
	first, _ := pem.Decode(good)
	for _, c := range []struct {
		name, want string
		text       []byte
		now        time.Time
	}{
		{"ended", "ended on 2026-11-29T01:00:00Z", good, testTime().Add(2 * time.Hour)},
		{"no authority", "no authority", pem.EncodeToMemory(first), testTime()},
		{"another's key", "do not fit", append(pem.EncodeToMemory(first), issue(t, "client", testTime())...), testTime()},
		{"nothing", "no authority", nil, testTime()},
	} {
		if _, err := parseKeys(c.text, c.now); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "client.pem")
	if err := os.WriteFile(path, good, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Dial([]string{"127.0.0.1:1"}, path); err == nil || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("others may read it: %v", err)
	}
}

// TestKeysAreReadAgain: once their file is another one, the next call shows what it holds; while that is no good, what
// was there before.
func TestKeysAreReadAgain(t *testing.T) {
	old, next := issue(t, "controller", time.Now().Add(time.Hour)), issue(t, "controller", time.Now().Add(2*time.Hour))
	path := filepath.Join(t.TempDir(), "client.pem")
	write := func(keys []byte) {
		t.Helper()
		if err := os.WriteFile(path+".new", keys, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(old)
	c, err := Dial([]string{"127.0.0.1:1"}, path)
	if err != nil {
		t.Fatal(err)
	}
	first, _ := c.current()
	if same, err := c.current(); same != first || err != nil {
		t.Errorf("keys that did not change were read again: %v", err)
	}
	write([]byte("half of them"))
	if kept, err := c.current(); kept != first || err == nil {
		t.Errorf("keys that are no good: %v", err)
	}
	write(next)
	second, err := c.current()
	if err != nil || second == first {
		t.Fatalf("new keys: %v", err)
	}
	shown := second.Transport.(*http.Transport).TLSClientConfig.Certificates[0].Leaf.NotAfter
	if time.Until(shown) < 90*time.Minute {
		t.Errorf("it shows a certificate until %v", shown)
	}
}
