package server

import (
	"os"
	"path/filepath"
	"testing"

	"lightloom/southbound/inventory"
	"lightloom/southbound/noise"
	"lightloom/southbound/pki"
)

func TestMain(m *testing.M) {
	noise.Waiting(4)
	os.Exit(m.Run())
}

// TestKeys writes the keys of a fabric and reads them as their owners do. No owner can read another's,
// and existing keys are not overwritten.
func TestKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	const fabric = "hybrid:racks=2,hosts=1,spines=1"
	if err := inventory.WriteKeys(dir, fabric, 3, false); err != nil {
		t.Fatal(err)
	}
	a := &Daemon{Options: DaemonOptions{Keys: dir}}
	for _, tt := range []struct {
		role pki.Role
		name string
	}{{pki.Switch, "tor1"}, {pki.Switch, "spine0"}, {pki.Switch, "ocs"}, {pki.Controller, "controller2"},
		{pki.Agent, inventory.AgentName}, {pki.Client, "client"}} {
		if _, err := a.Identity(tt.role, tt.name); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.Identity(pki.Controller, "tor1"); err == nil {
		t.Error("a switch's keys were taken for a controller's")
	}
	if err := inventory.WriteKeys(dir, fabric, 3, false); err == nil {
		t.Error("keys were overwritten")
	}
}

// TestClusters: each cluster gets the number of clusters before it, the same at every start, and its
// election ids are above all of theirs.
func TestClusters(t *testing.T) {
	dir := t.TempDir()
	var last uint64
	for want, cluster := range []string{"a", "b", "a"} {
		for range 2 {
			n, err := countCluster(dir, cluster)
			if err != nil || n != uint64(want) {
				t.Fatalf("cluster %d was told %d, %v", want, n, err)
			}
		}
		c := ReplicaConfig{Earlier: uint64(want)}
		if id := c.ElectionHigh(1); id <= last {
			t.Errorf("election id %x is not above %x", id, last)
		}
		last = c.ElectionHigh(1<<48 - 1)
	}
	one, other := ReplicaConfig{Cluster: "a"}, ReplicaConfig{Cluster: "b"}
	if one.ElectionLow(1)>>32 == other.ElectionLow(1)>>32 || one.ElectionLow(2) != one.ElectionLow(1)+1 {
		t.Errorf("ids of two clusters are %x and %x", one.ElectionLow(1), other.ElectionLow(1))
	}
	if err := os.WriteFile(filepath.Join(dir, "clusters"), []byte("7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := countCluster(dir, "a"); err != nil || n != 7 {
		t.Errorf("a file of an earlier version, which counts 7: %d, %v", n, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "clusters"), []byte("99999"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := countCluster(dir, "a"); err == nil {
		t.Error("a number beyond all was taken")
	}
}
