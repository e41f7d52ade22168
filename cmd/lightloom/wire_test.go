package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/southbound/pki"
)

// wireLab is an optical switch of eight ports, and files of a lab around it.
type wireLab struct {
	t   *testing.T
	dir string
}

func newWireLab(t *testing.T, profile string, more ...string) *wireLab {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	return newWireLabIn(t, dir, profile, more...)
}

// newWireLabIn makes it in a directory, for tests that name their files from anywhere.
func newWireLabIn(t *testing.T, dir, profile string, more ...string) *wireLab {
	t.Helper()
	l := &wireLab{t, dir}
	addr := startTarget(t, append([]string{"--profile", profile, "--ports", "8", "--dark", "1ms", "--tls-dir",
		filepath.Join(dir, "keys")}, more...)...)
	l.put("lab.yaml", "devices:\n  - {name: ocs, address: '"+addr+"', profile: "+profile+", ports: 8, tls: {"+
		"ca: keys/ca.pem, cert: keys/client.pem, key: keys/client.pem, server-name: localhost}}\n")
	l.put("switches.csv", "StartDevice,StartPort,EndDevice,EndPort\nleaf0,Ethernet0,ocs,1\nleaf0,Ethernet4,ocs,2\n"+
		"leaf1,Ethernet0,ocs,3\n")
	l.put("testers.csv", "StartDevice,StartPort,EndDevice,EndPort\ntester,1/1,ocs,4A\ntester,1/2,ocs,5A\n")
	l.put("t0.csv", "StartDevice,StartPort,EndDevice,EndPort\nleaf0,Ethernet0,leaf1,Ethernet0\n"+
		"leaf0,Ethernet4,tester,1/1\n")
	l.put("t1.csv", "StartDevice,StartPort,EndDevice,EndPort\ntester,1/2,tester,1/1\n")
	return l
}

func (l *wireLab) put(name, text string) {
	l.t.Helper()
	if err := os.WriteFile(filepath.Join(l.dir, name), []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
}

// wire runs a command of a testbed, and returns its status and all that it says.
func (l *wireLab) wire(command, testbed, holder string, more ...string) (status int, said string) {
	l.t.Helper()
	args := []string{"wire", command, "ocs", "--devices", "lab.yaml", "--links", testbed + ".csv", "--switch-ports",
		"switches.csv", "--tester-ports", "testers.csv", "--first-port", "1", "--testbed", testbed, "--holder", holder}
	status, out, errs := (&recorder{}).run(append(args, more...)...)
	return status, out + errs
}

// TestWire: two testbeds in CSV share a switch of each profile, as their owners do through a day.
func TestWire(t *testing.T) {
	for _, profile := range []string{"ocp", "sonic-ocs", "sonic-ocs-hld", "polatis"} {
		t.Run(profile, func(t *testing.T) {
			l := newWireLab(t, profile)
			is := func(want int, says, command, testbed, holder string, more ...string) {
				t.Helper()
				status, said := l.wire(command, testbed, holder, more...)
				if status != want || !strings.Contains(said, says) {
					t.Errorf("%s of %s: status %d, want %d and %q:\n%s", command, testbed, status, want, says, said)
				}
			}
			is(0, "step 1: wire 0>2 1>3 2>0 3>1", "plan", "t0", "ann")
			is(1, "2 of 2 links not wired", "verify", "t0", "ann")
			is(0, "2 links, 4 circuits", "apply", "t0", "ann")
			is(0, "nothing to do", "apply", "t0", "ann")
			is(0, "nothing to do", "plan", "t0", "ann")
			is(0, "2 links, 4 circuits", "verify", "t0", "ann")
			is(1, `input 3 is of group "t0", held by ann until`, "apply", "t1", "bob")
			is(1, `input 3 is of group "t0", held by ann until`, "plan", "t1", "bob")
			is(1, `"t1" waits for it, behind 0 others`, "apply", "t1", "bob", "--queue")
			is(1, `"ann" holds it until`, "apply", "t0", "eve")
			l.put("t0.csv", "StartDevice,StartPort,EndDevice,EndPort\nleaf0,Ethernet0,leaf1,Ethernet0\n")
			is(0, "step 1: wire -1 -3", "apply", "t0", "ann")
			is(0, "step 1: wire 3>4 4>3", "apply", "t1", "bob")
			is(0, "1 link, 2 circuits", "verify", "t1", "bob")
			if status, said := l.lease("--testbed", "t0", "--hand-over", "eve", "--holder", "bob"); status != 1 {
				t.Error(said)
			}
			if status, said := l.lease("--testbed", "t0", "--extend", "-1h", "--holder", "ann"); status == 0 ||
				!strings.Contains(said, "which is past") {
				t.Error(said)
			}
			if status, said := l.lease("--testbed", "t0", "--hand-over", "eve", "--holder", "ann"); status != 0 {
				t.Error(said)
			}
			for testbed, holder := range map[string]string{"t0": "eve", "t1": "bob"} {
				status, out, errs := (&recorder{}).run("wire", "release", "ocs", "--devices", "lab.yaml", "--testbed",
					testbed, "--holder", holder)
				if status != 0 {
					t.Errorf("%s%s", out, errs)
				}
			}
			if got := string(output(t, "circuit", "import", "ocs", "--devices", "lab.yaml")); got != "" {
				t.Errorf("after all: %q", got)
			}
			if _, said := l.lease("--log"); strings.Count(said, `"what":"wire"`) != 5 ||
				strings.Count(said, `"what":"release"`) != 2 {
				t.Error(said)
			}
		})
	}
}

func (l *wireLab) lease(more ...string) (status int, said string) {
	l.t.Helper()
	args := []string{"wire", "lease"}
	if more[0] == "--testbed" {
		args = append(args, "ocs")
	}
	status, out, errs := (&recorder{}).run(append(args, more...)...)
	return status, out + errs
}

// TestWireForeign: a circuit of others at a wanted port is named, with whose it is, and stays without --take-over.
// verify never says that all is well while it is there.
func TestWireForeign(t *testing.T) {
	l := newWireLab(t, "ocp")
	stand(t, "lab.yaml", "ocs", 0, 6)
	output(t, "circuit", "lease", "ocs", "--group", "pod1", "--holder", "joe", "--inputs", "7", "--outputs", "6")
	const says = `0 (leaf0 Ethernet0)→6, of "pod1", which joe has until`
	for _, command := range []string{"plan", "apply"} {
		if status, said := l.wire(command, "t0", "ann"); status != 1 || !strings.Contains(said, says) ||
			!strings.Contains(said, "--take-over") {
			t.Errorf("%s: status %d: %s", command, status, said)
		}
	}
	if status, said := l.wire("verify", "t0", "ann"); status != 1 ||
		!strings.Contains(said, "0 (leaf0 Ethernet0)→6 holds a port of it") {
		t.Errorf("status %d: %s", status, said)
	}
	if status, said := l.wire("apply", "t0", "ann", "--take-over"); status != 0 {
		t.Errorf("status %d: %s", status, said)
	}
}

// TestWireJSON: what a program reads says whether anything has changed.
func TestWireJSON(t *testing.T) {
	l := newWireLab(t, "sonic-ocs")
	for _, want := range []bool{true, false} {
		var r struct {
			Changed bool
			Steps   []any
			Until   time.Time
		}
		_, said := l.wire("apply", "t0", "ann", "-o", "json", "--for", "2h")
		if err := json.Unmarshal([]byte(said), &r); err != nil || r.Changed != want || len(r.Steps) > 0 != want ||
			time.Until(r.Until) > 2*time.Hour {
			t.Errorf("%v, %+v, want changed %v:\n%s", err, r, want, said)
		}
	}
}

// TestWireLosses: light that has become weaker than when the switch was made, or than at first, is told, and ends with
// status 1; and what is lost is kept.
func TestWireLosses(t *testing.T) {
	faults := filepath.Join(t.TempDir(), "faults.txt")
	if err := os.WriteFile(faults, []byte("loss port=0 db=2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const links = "testbed: t0\nswitch: ocs\nmax-rise: 0.5\nports: {a: {p: 0}, b: {p: 1}}\nlinks: [{from: a p, to: b p}]\n"
	verify := func(more ...string) (int, string) {
		status, out, errs := (&recorder{}).run(append([]string{"wire", "verify", "--devices", "lab.yaml", "--links",
			"links.yaml"}, more...)...)
		return status, out + errs
	}
	t.Run("factory", func(t *testing.T) {
		l := newWireLab(t, "sonic-ocs", "--faults", faults)
		l.put("links.yaml", links)
		output(t, "wire", "apply", "--devices", "lab.yaml", "--links", "links.yaml")
		status, said := verify("--history", "losses.json")
		const says = "it loses 3.50 dB, 2.00 more than when the switch was made (1.50 ± 0.10)"
		if status != 1 || !strings.Contains(said, says) ||
			!strings.Contains(said, "│ 1→0     │ 1.50 │ 1.50      │") {
			t.Errorf("status %d: %s", status, said)
		}
		verify("--history", "losses.json")
		if kept := read(t, "losses.json"); strings.Count(kept, `"db":3.5`) != 2 {
			t.Error(kept)
		}
	})
	t.Run("first", func(t *testing.T) {
		l := newWireLab(t, "ocp", "--faults", faults)
		l.put("links.yaml", links)
		output(t, "wire", "apply", "--devices", "lab.yaml", "--links", "links.yaml")
		if status, said := verify(); status != statusUsage || !strings.Contains(said, "add --history FILE") {
			t.Errorf("status %d: %s", status, said)
		}
		l.put("losses.json", `{"ocs": {"0>1": [{"at": "2026-11-01T00:00:00Z", "db": 1.5}]}}`)
		if status, said := verify("--history", "losses.json"); status != 1 ||
			!strings.Contains(said, "it loses 3.50 dB, 2.00 more than on 2026-11-01") {
			t.Errorf("status %d: %s", status, said)
		}
		l.put("losses.json", `[]`)
		if status, said := verify("--history", "losses.json"); status != statusUsage ||
			!strings.Contains(said, "read losses") {
			t.Errorf("status %d: %s", status, said)
		}
	})
}

// TestWireMistakes: what is wrong with a command or its files ends with the status of usage, and says what to write.
func TestWireMistakes(t *testing.T) {
	l := newWireLab(t, "ocp")
	l.put("short.csv", "StartDevice,StartPort,EndDevice\n")
	l.put("self.csv", "StartDevice,StartPort,EndDevice,EndPort\nleaf0,Ethernet0,leaf0,Ethernet0\n")
	l.put("none.csv", "StartDevice,StartPort,EndDevice,EndPort\nleaf0,Ethernet1,tester,1/1\n")
	l.put("twice.csv", "StartDevice,StartPort,EndDevice,EndPort\nleaf0,Ethernet0,tester,1/1\ntester,1/2,tester,1/1\n")
	for testbed, says := range map[string]string{
		"short": "short.csv:1:1: column EndPort is missing",
		"self":  "self.csv:2:23: leaf0 Ethernet0 is linked to itself",
		"none":  "did you mean Ethernet0, or Ethernet4?",
		"twice": "twice.csv:3:19: what 3 (tester 1/1) receives is wanted twice",
		"gone":  "gone.csv",
	} {
		if status, said := l.wire("apply", testbed, "ann"); status != statusUsage || !strings.Contains(said, says) {
			t.Errorf("%s: status %d: %s", testbed, status, said)
		}
	}
	if status, said := l.wire("apply", "t0", "ann", "--for", "-1h"); status == 0 ||
		!strings.Contains(said, "which is past") {
		t.Errorf("status %d: %s", status, said)
	}
	if _, err := os.Stat("leases.json"); err == nil {
		t.Error("a mistake left a lease")
	}
}

// TestWireExpired: a certificate that has expired is told as that.
func TestWireExpired(t *testing.T) {
	l := newWireLab(t, "ocp")
	auth, err := pki.New(time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	old, err := auth.IssueUntil(time.Now().Add(-2*time.Hour), time.Hour, pki.Controller, "c")
	if err == nil {
		err = old.WriteFile("old.pem")
	}
	if err != nil {
		t.Fatal(err)
	}
	l.put("lab.yaml", strings.ReplaceAll(read(t, "lab.yaml"), "keys/client.pem", "old.pem"))
	if status, said := l.wire("plan", "t0", "ann"); status == 0 ||
		!strings.Contains(said, "hint: your certificate has expired on") {
		t.Errorf("status %d: %s", status, said)
	}
}
