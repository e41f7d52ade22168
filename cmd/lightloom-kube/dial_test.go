package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// userUntil returns a kubeconfig's user whose certificate ends then.
func userUntil(t *testing.T, end time.Time) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.Add(-time.Hour), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, b []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}))
	}
	return fmt.Sprintf("{client-certificate-data: %s, client-key-data: %s}", text("CERTIFICATE", der),
		text("PRIVATE KEY", secret))
}

// TestDialKubernetes: what keeps the API server from being reached is said so that it can be mended.
func TestDialKubernetes(t *testing.T) {
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Unauthorized","code":401}`)
	}))
	gone := httptest.NewTLSServer(nil)
	gone.Close()
	defer s.Close()
	for _, c := range []struct{ name, url, user, want string }{
		{"nobody listens", gone.URL, "{token: x}", "connection refused"},
		{"a token that has ended", s.URL, "{token: x}", "its token or certificate has ended"},
		{"a certificate that has ended", s.URL, userUntil(t, time.Now().Add(-time.Hour)), "its client certificate ended on"},
		{"a certificate that has not", s.URL, userUntil(t, time.Now().Add(time.Hour)), "its token or certificate has ended"},
	} {
		path := filepath.Join(t.TempDir(), "config")
		text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: %q, "+
			"insecure-skip-tls-verify: true}}]\nusers: [{name: a, user: %s}]\ncontexts: [{name: a, context: {cluster: a, "+
			"user: a}}]\n", c.url, c.user)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := dialKubernetes(t.Context(), path); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestOptions: what is missing or too much on the command line is named.
func TestOptions(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "name the Lightloom controller"},
		{"--socket a --server b:1", "name the Lightloom controller"},
		{"--socket a more", `"more"`},
		{"--socket a --lease 1ms", "below a second"},
		{"--server a", "no address"},
		{"--server a:1", "write --keys FILE"},
	} {
		if err := run(t.Context(), strings.Fields(c.args), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}
