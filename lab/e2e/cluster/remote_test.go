package cluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"lightloom/lab/labtest"
	"lightloom/southbound/inventory"
)

// attachedTo starts `controller run` with one switch that answers and others that do not, and returns the flags with
// which commands reach it. Jobs are accepted and wait.
func attachedTo(t *testing.T, dir string) []string {
	t.Helper()
	const fabric = "hybrid:racks=2,hosts=1,spines=1"
	keys, devices := filepath.Join(dir, "keys"), filepath.Join(dir, "devices.yaml")
	labtest.Output(t, "controller", "keys", keys, "--fabric", fabric, "--agents")
	addr := keyedTarget(t, keys, "ocs", "--profile", "ocp", "--ports", "2")
	text := "devices:\n  tor0: unix:/nowhere/a\n  tor1: unix:/nowhere/b\n  spine0: unix:/nowhere/c\n  ocs: " + addr +
		"\nagents:\n  h0-0: unix:/nowhere/e\n  h1-0: unix:/nowhere/f\n"
	if err := os.WriteFile(devices, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	labtest.CopyProgram(t, dir)
	cmd, said := exec.Command(filepath.Join(dir, "lightloom"), "controller", "run", "--fabric",
		fabric, "--devices",
		devices, "--tls-dir", keys, "--page", "off"), &heard{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("controller run: %v\n%s", err, said)
		}
	})
	flags := []string{"--keys", inventory.KeyFile(keys, inventory.ClientName)}
	for _, at := range strings.Split(said.after(t, "northbound at "), ",") {
		flags = append(flags, "--server", at)
	}
	said.after(t, "switch ocs is ")
	return flags
}

// keyedTarget starts a target that has a switch's keys of a run, and returns its address.
func keyedTarget(t *testing.T, keys, name string, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Link(inventory.KeyFile(keys, name), filepath.Join(dir, "server.pem")); err != nil {
		t.Fatal(err)
	}
	return labtest.StartTarget(t, append(args, "--name", name, "--tls-dir", dir)...)
}

// after waits for a line that begins so, and returns the rest of it.
func (h *heard) after(t *testing.T, begins string) string {
	t.Helper()
	tick, late := time.NewTicker(10*time.Millisecond), time.After(time.Minute)
	defer tick.Stop()
	for {
		for line := range strings.Lines(h.String()) {
			if rest, ok := strings.CutPrefix(line, begins); ok && strings.HasSuffix(rest, "\n") {
				return strings.TrimSpace(rest)
			}
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("never: %q in\n%s", begins, h)
		}
	}
}

// TestCommandsReachController: a controller whose packet switches are all dead is asked and told over its northbound,
// with the keys that were made for its clients.
func TestCommandsReachController(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	flags := attachedTo(t, dir)
	file := func(name, text string) string {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	jobs := file("jobs.yaml", "jobs:\n- name: tiny\n  stages:\n  - name: map\n    tasks: 1\n")
	drain, change := file("drain.yaml", "drain: [spine0]\n"), file("change.yaml", "policy: random+ecmp\n")
	keys := filepath.Join(dir, "keys")
	spine := keyedTarget(t, keys, "spine0", "--profile", "openconfig", "--ports", "2", "--racks", "2")
	small := keyedTarget(t, keys, "spine0", "--profile", "openconfig", "--ports", "1", "--racks", "2")
	replace, few := file("replace.yaml", "devices: {spine0: '"+spine+"'}\n"), file("few.yaml",
		"devices: {spine0: '"+small+
			"'}\n")
	vendor := file("vendor.yaml", "devices: [{name: spine0, address: '"+spine+"', profile: srl-native}]\n")
	dead := file("dead.yaml", "devices: {tor0: 'unix:/nowhere/d'}\n")
	remove := file("remove.yaml", "drain: [ocs]\nremove: [ocs]\n")
	wide := func(name string) string {
		return name + ": '" + keyedTarget(t, keys, name, "--profile", "openconfig", "--ports", "4",
			"--racks", "2") + "'"
	}
	links, tor := "links: [{from: 'tor0:3', to: 'spine0:2', rate: 1Gbps}]\n", wide("tor0")
	narrow := file("narrow.yaml", links+"devices: {"+tor+"}\n")
	cable := file("cable.yaml", links+"devices: {"+tor+", "+wide("spine0")+"}\n")
	m := &machines{t: t}
	for _, tt := range []struct {
		command string
		says    []string // of the output, or of the error that refuses
		refused bool     // also of status, whose verdict is not ok: switches are unclaimed
		read    bool     // of any replica, which can be behind by a moment
	}{
		{command: "submit " + jobs, says: []string{"job 0 (tiny)"}},
		{command: "jobs", says: []string{"tiny", "waiting"}, read: true},
		{command: "status", says: []string{"policy crosslayer+sunflow", "1 job, 1 of them open", "controller2",
			"│ spine0 │ switch │     2 │"}, refused: true, read: true},
		{command: "reserve list", says: []string{"no reservations"}},
		{command: "reserve h0-0 h1-0 --rate 20Mbps --lifetime 10m --owner ann",
			says: []string{"reservation 1, for 10m0s",
				"path h0-0 tor0 spine0 tor1 h1-0"}},
		{command: "reserve list -o json", says: []string{`"owner": "ann"`, `"src": "h0-0"`, `"spine0"`, `"left_seconds": 5`},
			read: true},
		{command: "apply --dry-run -f " + drain, says: []string{`reservation 1 of "ann" crosses it`}, refused: true},
		{command: "release 1", says: []string{"reservation 1 released"}},
		{command: "apply --dry-run -f " + change, says: []string{"would change to generation 1:",
			"policy: crosslayer+sunflow → random+ecmp"}},
		{command: "cancel 0", says: []string{"job 0"}},
		{command: "jobs --state cancelled", says: []string{"tiny"}, read: true},
		{command: "reserve list", says: []string{"no reservations"}, read: true},
		{command: "apply -f " + few, says: []string{"spine0: it has 1 ports, and the fabric uses port 1 of spine0"},
			refused: true},
		{command: "apply -f " + vendor, says: []string{"spine0: ", "mend its record"}, refused: true},
		{command: "apply -f " + dead, says: []string{"tor0: ", "unix:/nowhere/d", "mend its record"},
			refused: true},
		{command: "apply --dry-run -f " + replace, says: []string{"would change to generation 1:",
			"replace spine0: address unix:/nowhere/c → " + spine}},
		{command: "apply -f " + replace, says: []string{"generation 1:"}},
		{command: "apply -f " + replace, says: []string{"nothing changes: generation 1"}},
		{command: "status", says: []string{"2 switches unclaimed"}, refused: true, read: true}, // not spine0
		{command: "apply -f " + remove, says: []string{"remove ocs: traffic may cross it: drain it first"}, refused: true},
		{command: "apply -f " + file("out.yaml", "drain: [ocs]\n"), says: []string{"drain ocs"}},
		{command: "apply -f " + remove, says: []string{"generation 3:", "remove ocs"}},
		{command: "apply -f " + file("add.yaml", "remove: []\n"), says: []string{"add ocs"}},
		{command: "apply -f " + file("in.yaml", "drain: []\n"), says: []string{"back in service: ocs"}},
		{command: "apply -f " + narrow, says: []string{"spine0: it has 2 ports, and the fabric uses port 2 of spine0"},
			refused: true},
		{command: "apply --dry-run -f " + cable,
			says: []string{"plug in tor0:3–spine0:2 at 1Gbps", "replace spine0: "}},
		{command: "apply -f " + cable, says: []string{"generation 6:", "plug in tor0:3–spine0:2 at 1Gbps"}},
		{command: "apply -f " + cable, says: []string{"nothing changes: generation 6"}},
		{command: "status", says: []string{"1 switch unclaimed"}, refused: true, read: true}, // tor1
		{command: "apply -f " + file("old.yaml", "links: [{from: 'spine0:0', to: none}]\n"),
			says: []string{"unplug tor0:1–spine0:0"}},
		{command: "apply -f " + file("last.yaml", "links: [{from: 'tor0:3', to: none}]\n"),
			says:    []string{"cut racks off"},
			refused: true},
		{command: "apply -f " + file("held.yaml", "links: [{from: 'tor0:3', to: 'spine0:1'}]\n"),
			says: []string{"spine0:1 is in use: the cable to tor1:1 is there"}, refused: true},
		{command: "reserve h0-0 h1-0 --rate 20Mbps --lifetime 10m --owner ann",
			says: []string{"reservation 2, for 10m0s",
				"path h0-0 tor0 spine0 tor1 h1-0"}},
		{command: "apply -f " + file("again.yaml", "links: [{from: 'tor0:3', to: 'spine0:0'}]\n"),
			says: []string{`reservation 2 of "ann" has a path between racks`}, refused: true},
	} {
		args := append(strings.Fields(tt.command), flags...)
		out, err := m.try(args...)
		said := func() bool {
			return !slices.ContainsFunc(tt.says, func(want string) bool {
				return !strings.Contains(out+fmt.Sprint(err), want)
			})
		}
		for until := time.Now().Add(10 * time.Second); tt.read && !said() && time.Now().Before(until); {
			out, err = m.try(args...)
		}
		if (err != nil) != tt.refused || !said() {
			t.Errorf("%s: %v; not all of %q are in\n%s", tt.command, err, tt.says, out)
		}
	}
}
