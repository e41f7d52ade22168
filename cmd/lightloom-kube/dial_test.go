package main

import (
	"context"
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

	"k8s.io/client-go/rest"
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

// writeConfig writes a kubeconfig, and returns its path.
func writeConfig(t *testing.T, url, user string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters: [{name: a, cluster: {server: %q, "+
		"insecure-skip-tls-verify: true}}]\nusers: [{name: a, user: %s}]\ncontexts: [{name: a, context: {cluster: a, "+
		"user: a}}]\n", url, user)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
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
		{"no server at the address", gone.URL, "{token: x}", "connection refused"},
		{"a token that has ended", s.URL, "{token: x}", "its token or certificate has ended"},
		{"a certificate that has ended", s.URL, userUntil(t, time.Now().Add(-time.Hour)), "its client certificate ended on"},
		{"a certificate that has not", s.URL, userUntil(t, time.Now().Add(time.Hour)), "its token or certificate has ended"},
	} {
		_, err := dialKubernetes(t.Context(), writeConfig(t, c.url, c.user))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// TestOwnerOf: two clusters do not own each other's slices, and one that does not say which it is owns none.
func TestOwnerOf(t *testing.T) {
	for _, c := range []struct {
		answer, owner, err string
		status             int
	}{
		{`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"7a"}}`, "kubernetes-7a", "", 200},
		{`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system","uid":"7b"}}`, "kubernetes-7b", "", 200},
		{`{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"kube-system"}}`, "", "write --owner NAME", 200},
		{`{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403}`, "",
			"deploy/rbac.yaml", 403},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method+r.URL.Path != "GET/api/v1/namespaces/kube-system" {
				t.Errorf("%s %s", r.Method, r.URL)
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.answer)
		}))
		k, err := newKubernetes(&rest.Config{Host: s.URL})
		if err != nil {
			t.Fatal(err)
		}
		owner, err := ownerOf(t.Context(), k)
		if owner != c.owner || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: owner %q, %v", c.answer, owner, err)
		}
		s.Close()
	}
}

// TestOwnerIsAsked: without --owner nothing is begun before the cluster has said which it is.
func TestOwnerIsAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/api/v1":
			_, _ = io.WriteString(w, `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"v1"}`)
		case "/api/v1/namespaces/kube-system":
			w.WriteHeader(http.StatusForbidden)
		default:
			t.Errorf("%s %s", r.Method, r.URL)
			cancel()
		}
	}))
	defer s.Close()
	err := run(ctx, []string{"--socket", "none", "--kubeconfig", writeConfig(t, s.URL, "{token: x}")}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "write --owner NAME") {
		t.Error(err)
	}
}

// TestOptions: what is missing or too much on the command line is named.
func TestOptions(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "name the Lightloom controller"},
		{"--socket a --server b:1", "name the Lightloom controller"},
		{"--socket a more", `"more"`},
		{"--socket a --lease 1ms", "below a second"},
		{"--socket a --kueue --labels=false", "leave out --labels=false"},
		{"--server a", "no address"},
		{"--server a:1", "write --keys FILE"},
	} {
		if err := run(t.Context(), strings.Fields(c.args), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.args, err)
		}
	}
}
