package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/inventory"
)

// TestAdoptRunbook runs the commands of docs/runbooks/adopt-a-live-switch.md, in their order, against a switch that
// carries circuits already and a packet switch that sends into it.
func TestAdoptRunbook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "docs", "runbooks", "adopt-a-live-switch.md"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ocs := startTarget(t, "--profile", "ocp", "--ports", "8", "--dark", "1ms", "--tls-dir", dir)
	tor := startTarget(t, "--profile", "openconfig", "--ports", "4", "--tls-dir", filepath.Join(dir, "tor0"))
	lab := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(text))[1]
	lab = strings.NewReplacer("192.0.2.7:9339", ocs, "192.0.2.8:9339", tor, "tor0-client.pem",
		"tor0/client.pem",
		"tor0-ca.pem", "tor0/ca.pem").Replace(lab)
	t.Chdir(dir)
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("lab.yaml", lab)
	put("pod1.circuits", "in=0 out=1\nin=1 out=0 # ours\n")
	put("steer.txt", "input=0 device=tor0 port=3 rack=0\n")
	stand(t, "lab.yaml", "ocs", 0, 0, 2, 2, 6, 7) // 6→7 belongs to another user

	outputs := map[string]string{}
	for _, line := range strings.Split(string(text), "\n") {
		command, ok := strings.CutPrefix(line, "$ lightloom ")
		if !ok {
			continue
		}
		command, file, _ := strings.Cut(command, " > ")
		var out bytes.Buffer
		if err := run(t.Context(), strings.Fields(command), strings.NewReader(""), &out,
			io.Discard); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out.String())
		}
		if file != "" {
			put(file, out.String())
		}
		outputs[line] = out.String()
	}
	said := func(part, want string) {
		t.Helper()
		for command, out := range outputs {
			if strings.Contains(command, part) && strings.Contains(out, want) {
				return
			}
		}
		t.Errorf("no %q said %q: %v", part, want, outputs)
	}
	said("circuit diff", "- in=0 out=0\n- in=2 out=2\n+ in=0 out=1\n+ in=1 out=0\n# circuits of others that stay: 1")
	said("circuit plan", "step 1: drain 0>0 2>2; one Set: 0>1 1>0 -2; verify and steer 0>1 1>0")
	said("--steer steer.txt", "nothing was sent")
	said("--steer steer.txt --yes", "step 1: steer")
	said("circuits --yes", "nothing to do")
	for name, want := range map[string]string{"before.circuits": "in=6 out=7 # CONNECTED",
		"after.circuits": "in=0 out=1 # CONNECTED\nin=1 out=0 # CONNECTED\nin=6 out=7 # CONNECTED\n"} {
		if got, err := os.ReadFile(name); err != nil || !strings.Contains(string(got), want) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got := string(output(t, "device", "rules", "tor0", "--devices",
		"lab.yaml")); got != "dst=1 tag=7 src=any primary=3\n" {
		t.Errorf("tor0 has %q", got)
	}
	// Without a lease, and with one that has not the ports, nothing is written.
	for _, tt := range []struct{ lease, says string }{{"", "no lease"},
		{"--inputs 0-1 --outputs 4-5", "has not both its ports"},
		{"--inputs 0-7 --outputs 0-6", "whose output is another's"}} {
		if tt.lease != "" {
			output(t, strings.Fields("circuit lease ocs --group pod1 --holder ops "+tt.lease)...)
		}
		put("pod1.circuits", "in=6 out=1\nin=0 out=0\n")
		err := run(t.Context(), strings.Fields("circuit apply ocs --devices lab.yaml --group pod1 --circuits pod1.circuits "+
			"--yes"), strings.NewReader(""), io.Discard, io.Discard)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%q: %v, want %q", tt.lease, err, tt.says)
		}
	}
}

// TestClusterRunbook runs the commands of docs/runbooks/run-a-cluster.md, in their order, as far as one of the three
// machines can: its directories are elsewhere, and its address is on loopback.
func TestClusterRunbook(t *testing.T) {
	text := read(t, filepath.Join(repository(t), "docs", "runbooks", "run-a-cluster.md"))
	dir := t.TempDir()
	t.Chdir(dir)
	inventory := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(text)[1]
	if err := os.WriteFile("devices.yaml", []byte(inventory), 0o600); err != nil {
		t.Fatal(err)
	}
	host := fmt.Sprintf("127.200.%d.%d", os.Getpid()>>8&0xff, os.Getpid()&0xff)
	places := strings.NewReplacer("/etc/lightloom", filepath.Join(dir, "etc"), "/var/lib/lightloom",
		filepath.Join(dir, "state"), "192.0.2.11", host, "127.0.0.1:9101", "127.0.0.1:0")
	runs := 0
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ lightloom ")
		if !ok {
			continue
		}
		command, _, _ = strings.Cut(command, " > ")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		out := &untilSaid{what: "northbound at", then: cancel}
		end := func() {}
		if strings.HasPrefix(command, "cluster trust") { // while the replica runs
			end = inBackground(t, strings.Fields(places.Replace("replica run --config /etc/lightloom/replica.yaml")))
		}
		again := true
		var err error
		for again {
			err = run(ctx, strings.Fields(places.Replace(command)), strings.NewReader(""), out, io.Discard)
			// A replica says where its northbound is before it holds its directory.
			again = err != nil && strings.Contains(err.Error(), "no replica runs on") && ctx.Err() == nil
		}
		cancel()
		end()
		if err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out.said.String())
		}
		switch {
		case strings.HasPrefix(command, "cluster init"):
			for _, part := range []string{"etc", "state"} {
				if err := os.CopyFS(part, os.DirFS(filepath.Join("prod", "c0", part))); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(filepath.Join("etc", "key.pem"), 0o600); err != nil { // CopyFS keeps no modes
				t.Fatal(err)
			}
			config := filepath.Join("etc", "replica.yaml")
			if err := os.WriteFile(config, []byte(places.Replace(read(t, config))), 0o600); err != nil {
				t.Fatal(err)
			}
		case strings.HasPrefix(command, "replica run"):
			if runs++; !strings.Contains(out.said.String(), "replica c0 of cluster") {
				t.Errorf("%s said %q", command, out.said.String())
			}
		}
	}
	if runs != 2 {
		t.Errorf("a replica was run %d times, want 2", runs)
	}
}

// inBackground runs a command, returns once it has said where its northbound is, and ends it with what it returns.
func inBackground(t *testing.T, command []string) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	said, ended := make(chan struct{}), make(chan error, 1)
	out := &untilSaid{what: "northbound at", then: sync.OnceFunc(func() { close(said) })}
	go func() { ended <- run(ctx, command, strings.NewReader(""), out, io.Discard) }()
	select {
	case <-said:
	case err := <-ended:
		t.Fatalf("%v: %v", command, err)
	}
	return func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%v: %v", command, err)
		}
	}
}

// untilSaid collects output, and calls a function once a word occurs in it.
type untilSaid struct {
	said bytes.Buffer
	what string
	then func()
}

func (u *untilSaid) Write(b []byte) (int, error) {
	n, err := u.said.Write(b)
	if strings.Contains(u.said.String(), u.what) {
		u.then()
	}
	return n, err
}

// stand makes circuits, as another user would, and waits for them.
func stand(t *testing.T, file, name string, pairs ...southbound.Port) {
	t.Helper()
	all, err := inventory.Read(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	one, err := all.Devices.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := one.Config(os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	d, err := gnmi.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	c := &southbound.Change{}
	for i := 0; i < len(pairs); i += 2 {
		c.Connect = append(c.Connect, southbound.CrossConnect{In: pairs[i], Out: pairs[i+1]})
	}
	if err := d.Set(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	tick, late := time.NewTicker(5*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		seen, err := d.Read(t.Context())
		lit := 0
		for _, x := range seen.Connections {
			if x.Status == southbound.Connected {
				lit++
			}
		}
		if err == nil && lit == len(c.Connect) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatal(fmt.Sprint(seen, err))
		}
	}
}
