package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/southbound/gnmi/conformance"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/pki"
)

// startTarget runs `target run` as a user would until the test ends, and returns its address.
func startTarget(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, append([]string{"target", "run", "--listen", "127.0.0.1:0"}, args...),
			strings.NewReader(""), in,
			io.Discard)
		in.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, out.Close()); err != nil {
			t.Error(err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err, <-done)
	}
	_, rest, _ := strings.Cut(line, " on ")
	addr, _, ok := strings.Cut(rest, ",")
	if !ok {
		t.Fatalf("target run says %q", line)
	}
	return addr
}

func output(t *testing.T, args ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := run(t.Context(), args, strings.NewReader(""), &b, io.Discard); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, b.String())
	}
	return b.Bytes()
}

// TestTargetDaemon: a target is run, probed and checked, over TLS and by a device file.
func TestTargetDaemon(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	addr := startTarget(t, "--profile", "sonic-ocs", "--ports", "6", "--dark", "1ms", "--tls-dir", dir)
	var report probe.Report
	if err := json.Unmarshal(output(t, "device", "probe", addr, "--tls-dir", dir, "-o", "json"),
		&report); err != nil {
		t.Fatal(err)
	}
	if best, err := report.Best(); err != nil || best.Profile != "ocp" || best.Ports != 6 {
		t.Errorf("%+v, %v", best, err)
	}
	file := filepath.Join(dir, "lab.yaml")
	text := "devices:\n  - name: ocs\n    address: " + addr + "\n    profile: ocp\n    ports: 6\n    tls: {ca: ca.pem, " +
		"cert: client.pem, key: client.pem, server-name: switch}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, profile := range []string{"ocp", "sonic-ocs"} {
		var findings []conformance.Finding
		if err := json.Unmarshal(output(t, "target", "check", "ocs", "--devices", file, "--write",
			"--profile", profile, "-o",
			"json"), &findings); err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if f.Result == conformance.Broken {
				t.Errorf("%s: %s: %s", profile, f.Rule, f.Why)
			}
		}
	}
	for _, form := range []string{"junit", "html"} {
		page := string(output(t, "target", "check", "ocs", "--devices", file, "-o", form))
		for _, want := range []string{"ocs at " + addr, "profile", "gNMI", "lightloom", "get-typed"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: no %q in\n%s", form, want, page)
			}
		}
	}
	if table := output(t, "device", "probe", "ocs", "--devices", file); !bytes.Contains(table,
		[]byte("profile: ocp\n")) {
		t.Errorf("%s", table)
	}
}

func TestTargetUsage(t *testing.T) {
	faults := filepath.Join(t.TempDir(), "faults")
	if err := os.WriteFile(faults, []byte("stick\nbend port=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"target run":                                         "--tls-dir DIR",
		"target run --plaintext --profile osp":               "--profile ocp",
		"target run --plaintext --ports 0":                   "--ports 32",
		"target run --plaintext --dark long":                 "--dark 10ms",
		"target run --plaintext --dark 1ms --delays dark=1s": "--delays",
		"target run --plaintext --recovery never":            "--recovery restore",
		"target run --plaintext --faults " + faults:          "faults:2: parse fault",
		"target run --plaintext --listen 0.0.0.0:0":          "on loopback addresses only",
		"target chekc":                                       "unknown command",
		"target check":                                       "host:port",
		"target check here --plaintext":                      "host:port",
		"target check 127.0.0.1:1":                           "--tls-dir DIR",
		"device probe a --devices /nowhere.yaml":             "nowhere.yaml",
		"device probe 127.0.0.1:1 --tls-dir /nowhere":        "client.pem",
	} {
		r := &recorder{}
		if status, _, stderr := r.run(strings.Fields(args)...); status == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: status %d: %s", args, status, stderr)
		}
	}
	if schema := output(t, "device", "schema"); !json.Valid(schema) {
		t.Errorf("%s", schema)
	}
}

// TestTargetGRIBI: a target with gRIBI is programmed by commands as its record says, and checked by its
// rules.
func TestTargetGRIBI(t *testing.T) {
	addr := startTarget(t, "--profile", "sonic", "--gribi", "--plaintext", "--ports", "4", "--racks", "4")
	_, port, _ := strings.Cut(addr, ":")
	dir := t.TempDir()
	lab, rules := filepath.Join(dir, "lab.yaml"), filepath.Join(dir, "rules")
	text := "devices:\n  - {name: sw, address: '" + addr + "', id: 1, profile: sonic, ports: 4, racks: 4, gribi: {port: " +
		port + "}, tls: {plaintext: true}}\n"
	const want = "dst=1 tag=3 src=any primary=1\ndst=2 tag=any src=any primary=0\n"
	err := errors.Join(os.WriteFile(lab, []byte(text), 0o600), os.WriteFile(rules, []byte(want), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	output(t, "device", "rules", "sw", "--devices", lab, "--apply", rules)
	if got := string(output(t, "device", "rules", "sw", "--devices", lab)); got != want {
		t.Errorf("%s", got)
	}
	var findings []conformance.Finding
	if err := json.Unmarshal(output(t, "target", "check", addr, "--plaintext", "--profile", "sonic",
		"--gribi", port,
		"--write", "--racks", "4", "-o", "json"), &findings); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, f := range findings {
		if strings.HasPrefix(f.Rule, "gribi-") {
			if tried++; f.Result != conformance.Held {
				t.Errorf("%s: %s: %s", f.Rule, f.Result, f.Why)
			}
		}
	}
	if tried < 10 {
		t.Errorf("%d rules were tried", tried)
	}
	if got := string(output(t, "device", "rules", "sw", "--devices", lab)); got != want {
		t.Errorf("after the check: %s", got)
	}
}

// TestDeviceSystem: commands read a target's clock, reboot it, and give it another certificate that its
// client can reach it with; one that its client does not trust is given up again.
func TestDeviceSystem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	addr := startTarget(t, "--ports", "4", "--tls-dir", dir, "--boot", "1ms")
	if got := output(t, "device", "time", addr, "--tls-dir", dir); !bytes.Contains(got,
		[]byte("ahead of this machine")) {
		t.Errorf("%s", got)
	}
	output(t, "device", "reboot", addr, "--tls-dir", dir, "--in", "1h", "--message", "image")
	got := output(t, "device", "reboot", addr, "--tls-dir", dir, "--status")
	if !bytes.Contains(got, []byte("waits for 59m")) || !bytes.Contains(got, []byte("(image); 0 reboots")) {
		t.Errorf("%s", got)
	}
	output(t, "device", "reboot", addr, "--tls-dir", dir, "--cancel")
	output(t, "device", "reboot", addr, "--tls-dir", dir)
	got = output(t, "device", "reboot", addr, "--tls-dir", dir, "--status")
	if !bytes.Contains(got, []byte("1 reboot since")) {
		t.Errorf("%s", got)
	}
	auth, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := auth.IssueFor(pki.Switch, "switch", "127.0.0.1")
	file := filepath.Join(t.TempDir(), "foreign.pem")
	if err = errors.Join(err, foreign.WriteFile(file)); err != nil {
		t.Fatal(err)
	}
	r := &recorder{}
	if status, _, stderr := r.run("device", "certify", addr, "--tls-dir", dir, "--identity",
		file); status == 0 ||
		!strings.Contains(stderr, "which it gives up again") {
		t.Errorf("status %d: %s", status, stderr)
	}
	same := filepath.Join(dir, "server.pem")
	if got := output(t, "device", "certify", addr, "--tls-dir", dir, "--identity", same); !bytes.Contains(got,
		[]byte("serves with certificate")) {
		t.Errorf("%s", got)
	}
}

// TestTargetRestart: the rules about restarts are tried when asked for, by gNOI.
func TestTargetRestart(t *testing.T) {
	addr := startTarget(t, "--profile", "ocp", "--ports", "4", "--plaintext", "--dark", "1ms", "--boot", "10ms",
		"--recovery", "maintain")
	for _, tt := range []struct {
		flags []string
		want  conformance.Result
	}{{[]string{"--write"}, conformance.Skipped}, {[]string{"--write", "--restart"}, conformance.Held}} {
		var findings []conformance.Finding
		args := append([]string{"target", "check", addr, "--plaintext", "--profile", "ocp", "--ports", "4", "-o", "json"},
			tt.flags...)
		if err := json.Unmarshal(output(t, args...), &findings); err != nil {
			t.Fatal(err)
		}
		for _, f := range findings {
			if (f.Rule == "O17" || f.Rule == "O18") && f.Result != tt.want {
				t.Errorf("%v: %+v", tt.flags, f)
			}
		}
	}
}
