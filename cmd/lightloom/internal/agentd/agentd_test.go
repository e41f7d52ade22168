package agentd

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/southbound/inventory"
)

// TestAgentRefusals: what an agent needs and does not have is said.
func TestAgentRefusals(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	const fabric = "hybrid:racks=2,hosts=2,spines=1"
	if err := inventory.WriteKeys(dir, fabric, 1, true); err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(t.TempDir(), "open")
	if err := inventory.WriteKeys(open, fabric, 1, true); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(open, inventory.DataKeyFile), 0o644); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(t.TempDir(), "short")
	if err := inventory.WriteKeys(short, fabric, 1, true); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(short, inventory.DataKeyFile), []byte("12ab\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plain := filepath.Join(t.TempDir(), "plain")
	if err := inventory.WriteKeys(plain, fabric, 1, false); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		opt  AgentOptions
		want string
	}{
		{"no such host", AgentOptions{Hosts: []string{"h7-0"}, Keys: dir}, `the first is "h0-0", the last "h1-1"`},
		{"host twice", AgentOptions{Hosts: []string{"h0-0", "h0-0"}, Keys: dir}, "named twice"},
		{"no keys of agents", AgentOptions{Hosts: []string{"h0-0"}, Keys: plain}, "h0-0.pem"},
		{"key that others may read", AgentOptions{Hosts: []string{"h0-0"}, Keys: open}, "chmod 600"},
		{"key that is none", AgentOptions{Hosts: []string{"h0-0"}, Keys: short}, "64 hexadecimal digits"},
		{"no such devices", AgentOptions{Hosts: []string{"h0-0"}, Keys: dir, Devices: "nowhere.yaml"},
			"nowhere.yaml"},
		{"no such interface", AgentOptions{Hosts: []string{"h0-0"}, Keys: dir, Listen: "127.0.0.1:0",
			LLDP: []string{"warp0"}}, `"warp0"`},
		{"cgroup beside the root", AgentOptions{Hosts: []string{"h0-0"}, Keys: dir, TaskCgroups: "../x"},
			`limit vCPUs of tasks: make cgroup "../x": write a path below the root of cgroups`},
		{"no place to listen", AgentOptions{Hosts: []string{"h0-0"}, Keys: dir, Listen: "unix:/nowhere/at/all"},
			"/nowhere/at/all"},
	} {
		opt := tt.opt
		opt.Fabric, opt.Stdout = fabric, io.Discard
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if err := RunAgent(ctx, opt); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		cancel()
	}
}
