package interop

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestLemmingShadowsSwitch: under a controller that runs, a lemming in the place of a fat-tree's switch
// is ready, takes every Set, and what is read back of it is what one of our targets holds in its place:
// at first, with a core switch drained, and with it in service again.
func TestLemmingShadowsSwitch(t *testing.T) {
	lemming, ours := shadowed(t, true), shadowed(t, false)
	first, last := "", ""
	for _, change := range []string{"", "drain: [core0]\n", "drain: []\n"} {
		for _, s := range []shadow{lemming, ours} {
			if change != "" {
				s.apply(change)
			}
		}
		tick, late := time.NewTicker(50*time.Millisecond), time.After(patience)
		got, want := lemming.rules(), ours.rules()
		for got != want || want == last {
			select {
			case <-tick.C:
				got, want = lemming.rules(), ours.rules()
			case <-late:
				t.Fatalf("after %q lemming has\n%sand the target\n%sbefore it had\n%s", change, got, want, last)
			}
		}
		tick.Stop()
		if first == "" {
			first = want
		}
		last = want
	}
	if first != last {
		t.Errorf("back in service the core leads to\n%sbefore to\n%s", last, first)
	}
}

// shadow is a switch under a controller.
type shadow struct {
	apply func(change string) // of the fabric
	rules func() string       // without backups, which lemming's model does not know
}

// shadowed runs a controller over a fat-tree of which one switch is there, a lemming or a target, and
// returns once that one is ready. Nobody waits for the others.
func shadowed(t *testing.T, lemming bool) shadow {
	t.Helper()
	const fabric = "fattree:k=4,hosts=8,rate=50Mbps"
	dir := t.TempDir()
	file := func(name, text string) string {
		t.Helper()
		at := filepath.Join(dir, name)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return at
	}
	command := func(args ...string) string {
		t.Helper()
		out, err := run(t, lightloom(t), args...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
		return out
	}
	keys := filepath.Join(dir, "keys")
	command("controller", "keys", keys, "--fabric", fabric, "--agents")
	record := "devices:\n- {name: agg0, ports: 4, racks: 4, "
	if lemming {
		x := startLemming(t)
		record += fmt.Sprintf("profile: openconfig-plain, flags: {trust-profile: true, read-config: true}, address: %q, "+
			"tls: {ca: %s, server-name: dut}}\n", x.addr, filepath.Join(filepath.Dir(x.file), "ca.pem"))
	} else {
		x := startTarget(t, "openconfig", 4)
		record += fmt.Sprintf("profile: openconfig, address: %q, tls: {ca: %s, cert: %[3]s, key: %[3]s, server-name: "+
			"localhost}}\n", x.addr, filepath.Join(x.keys, "ca.pem"), filepath.Join(x.keys, "client.pem"))
	}
	all := record
	for _, name := range []string{"agg1", "agg2", "agg3", "core0", "core1", "core2", "core3",
		"edge0-0", "edge0-1",
		"edge1-0", "edge1-1"} {
		all += fmt.Sprintf("- {name: %s, address: 'unix:/nowhere/%[1]s'}\n", name)
	}
	c := start(t, lightloom(t), "controller", "run", "--fabric", fabric, "--devices",
		file("lab.yaml", all), "--tls-dir",
		keys, "--page", "off")
	reach := []string{"--keys", filepath.Join(keys, "client.pem")}
	for _, at := range strings.Split(c.until(t, regexp.MustCompile(`^northbound at (\S+)$`))[1], ",") {
		reach = append(reach, "--server", at)
	}
	c.until(t, regexp.MustCompile("^switch agg0 is ready"))
	alone := file("agg0.yaml", record)
	return shadow{apply: func(change string) {
		command(append([]string{"apply", "-f", file("change.yaml", change)}, reach...)...)
	}, rules: func() string {
		return sortLines(regexp.MustCompile(` backup=\d+`).ReplaceAllString(command("device", "rules", "agg0", "--devices",
			alone), ""))
	}}
}
