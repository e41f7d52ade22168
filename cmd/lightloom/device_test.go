package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeviceRules: rules are shown, tried dry, set, and set again to no effect, in every model of a
// packet switch.
func TestDeviceRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, profile := range []string{"openconfig", "srl-native", "sonic"} {
		addr := startTarget(t, "--profile", profile, "--ports", "4", "--plaintext")
		rules := func(args ...string) string {
			t.Helper()
			return string(output(t, append([]string{"device", "rules", addr, "--plaintext", "--profile",
				profile, "--ports",
				"4"}, args...)...))
		}
		write("dst=1 primary=2 # the rest of rack 1\ndst=1 tag=7 primary=3\n")
		if got := rules("--apply", file, "--dry-run"); got != "+ dst=1 tag=any src=any primary=2\n+ dst=1 tag=7 src=any "+
			"primary=3\n" {
			t.Errorf("%s: dry run: %q", profile, got)
		}
		if got := rules(); got != "" {
			t.Errorf("%s: a dry run left %q", profile, got)
		}
		rules("--apply", file)
		const both = "dst=1 tag=7 src=any primary=3\ndst=1 tag=any src=any primary=2\n"
		if got := rules(); got != both {
			t.Errorf("%s: %q, want %q", profile, got, both)
		}
		if got := rules("--apply", file, "--replace"); got != "nothing to do\n" {
			t.Errorf("%s: once more: %q", profile, got)
		}
		write("dst=2 tag=3 src=0 primary=1\n")
		if got := rules("--apply", file, "--replace"); !strings.Contains(got, "- dst=1 tag=any src=any\n") ||
			rules() != "dst=2 tag=3 src=0 primary=1\n" {
			t.Errorf("%s: replaced: %q, %q", profile, got, rules())
		}
	}
}

// TestCircuitUnasked: the circuit commands find out the switch's profile and number of ports, and the
// holder's name, where no flag gives them. Ports are numbers in all that is about one device.
func TestCircuitUnasked(t *testing.T) {
	dir := t.TempDir()
	leases, wish, lab := filepath.Join(dir, "leases"), filepath.Join(dir,
		"wish"), filepath.Join(dir, "lab.yaml")
	addr := startTarget(t, "--profile", "ocp", "--ports", "8", "--plaintext")
	t.Setenv("USER", "ada")
	for name, text := range map[string]string{wish: "in=0 out=1\n",
		lab: "devices:\n  - {name: ocs, address: \"" + addr +
			"\", profile: ocp, ports: 8, tls: {plaintext: true}}\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := []string{"--plaintext", "--group", "pod1", "--leases", leases, "--circuits", wish}
	for _, tt := range []struct {
		args []string
		says string
	}{
		{[]string{"lease", addr, "--group", "pod1", "--inputs", "0-3", "--outputs", "0-3",
			"--leases", leases}, ""},
		{[]string{"lease", "--leases", leases}, "held by ada"},
		{append([]string{"plan", addr}, own...), "steer 0>1"},
		{append([]string{"apply", addr, "--yes"}, own...), "step 1: steer"},
		{[]string{"import", addr, "--plaintext"}, "in=0 out=1 # CONNECTED"},
		{[]string{"lease", addr, "--group", "pod1", "--release", "--leases", leases}, ""},
	} {
		if got := string(output(t, append([]string{"circuit"},
			tt.args...)...)); !strings.Contains(got, tt.says) {
			t.Errorf("%s: %q, want %q", tt.args[0], got, tt.says)
		}
	}
	got := string(output(t, "device", "watch", "ocs", "--devices", lab, "--until-synced"))
	if !strings.Contains(got, "circuit 0 -> 1 CONNECTED\n") {
		t.Errorf("watch: %q", got)
	}
	err := run(t.Context(), []string{"device", "watch", addr, "--plaintext", "--profile", "ocp"},
		strings.NewReader(""),
		io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "how many ports") {
		t.Errorf("a profile without ports: %v", err)
	}
}

func TestDeviceModel(t *testing.T) {
	var rows []struct{ Path string }
	if err := json.Unmarshal(output(t, "device", "model", "ocp"), &rows); err != nil || len(rows) < 20 {
		t.Errorf("%d rows, %v", len(rows), err)
	}
}

// TestTargetBackend: target run fronts a switch that has RESTCONF only, over TLS and with a password by
// reference. It refuses impossible options before it serves.
func TestTargetBackend(t *testing.T) {
	h := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, pass, _ := r.BasicAuth(); user != "admin" || pass != "sesame" ||
			r.URL.Path != "/api/data/optical-switch:cross-connects" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/yang-data+json")
		_, _ = io.WriteString(w, `{"optical-switch:cross-connects":{"pair":[{"ingress":2,"egress":7}]}}`)
	}))
	defer h.Close()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, pemOf(h.Certificate().Raw), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OCS_USER", "admin")
	t.Setenv("OCS_PASSWORD", "sesame")
	args := []string{"--ports", "4", "--plaintext", "--backend", "restconf", h.URL + "/api", "--backend-user",
		"env:OCS_USER",
		"--backend-password", "env:OCS_PASSWORD", "--backend-ca", ca, "--backend-server-name", "example.com"}
	addr := startTarget(t, args...)
	var out bytes.Buffer
	if err := run(t.Context(), []string{"device", "watch", addr, "--plaintext", "--profile", "ocp",
		"--ports", "4",
		"--until-synced"}, strings.NewReader(""), &out, io.Discard); err == nil {
		if !strings.Contains(out.String(), "circuit 1 -> 2 CONNECTED") {
			t.Errorf("watch: %q", out.String())
		}
	} else if !strings.Contains(err.Error(), "Unavailable") { // it had not been reached yet
		t.Error(err)
	}
	for _, tt := range []struct{ args, says string }{
		{"--backend restconf", "takes the URL"},
		{"--backend netconf https://127.0.0.1", "unknown"},
		{"--backend restconf http://127.0.0.1/api", "plaintext is not asked for"},
		{"--backend restconf https://127.0.0.1/api --profile openconfig", "packet switch"},
		{"--backend restconf https://127.0.0.1/api --dark 1s", "of emulated switches"},
		{"--backend restconf https://127.0.0.1/api --backend-user root", "come together"},
		{"--backend restconf https://127.0.0.1/api --backend-user root --backend-password x",
			"named, not written"},
		{"--backend restconf https://u:p@127.0.0.1/api", "credentials are named elsewhere"},
	} {
		err := run(t.Context(), append([]string{"target", "run", "--plaintext", "--listen", "127.0.0.1:0"},
			strings.Fields(tt.args)...), strings.NewReader(""), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.args, err, tt.says)
		}
	}
}

func pemOf(der []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}) }
