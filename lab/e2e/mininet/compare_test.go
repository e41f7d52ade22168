package mininet

import (
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lightloom/lab/labtest"
	"lightloom/lab/report"
)

// TestMininetCompare runs the same jobs under the same policy on the simulator, in network namespaces and in Mininet,
// and compares the three reports with one command.
func TestMininetCompare(t *testing.T) {
	l := newLaboratory(t, false)
	l.measure(t, 4, func() error { return compareMininet(t, l) })
}

// compareMininet returns by how much the longest coflow took longer than on the simulator; other work on the machine
// can cause this.
func compareMininet(t *testing.T, l *laboratory) (slow error) {
	t.Helper()
	const fabric = "hybrid:racks=4,hosts=2,spines=2,nic=200Mbps,eps=50Mbps,ocs=200Mbps,dark=10ms"
	var files []string
	for _, on := range []string{"flowsim", "netns"} {
		dir := filepath.Join(t.TempDir(), on)
		cmd := exec.Command(filepath.Join(l.dir, "lightloom"), "replay", "--on", on, "--fabric",
			fabric, "--trace",
			"synthetic", "--coflows", "12",
			"--scale", "1", "--speedup", "2", "--policy", "crosslayer+sunflow", "--report-dir", dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("replay on %s: %v\n%s", on, err, out)
		}
		files = append(files, filepath.Join(dir, "report.json"))
	}
	out := l.mn("--custom lightloom.py --topo hybrid,4,2,nic=200,eps=50,ocs=200 --switch loom --controller "+
		"loom,jobs=12,speedup=2,report=rep --test none --post script",
		"py net.get('c0').replayed()", "sh echo; echo report; base64 -w0 rep/report.json; echo")
	found := regexp.MustCompile(`(?m)^report\r?\n([A-Za-z0-9+/=]+)`).FindStringSubmatch(out)
	if found == nil {
		t.Fatalf("Mininet wrote no report:\n%s", out)
	}
	text, err := base64.StdEncoding.DecodeString(found[1])
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(t.TempDir(), "mininet.json"))
	if err := os.WriteFile(files[2], text, 0o600); err != nil {
		t.Fatal(err)
	}
	var reps []*report.Report
	for _, f := range files {
		r, err := report.Read(f)
		if err != nil {
			t.Fatal(err)
		}
		reps = append(reps, r)
	}
	for i, r := range reps {
		m := r.Manifest
		if err := m.Check(); err != nil {
			t.Fatalf("report %d: %v", i, err)
		}
		want := []string{"replay", "replay", "controller run"}[i]
		if m.Command != want || !slices.Equal(m.Seeds, []uint64{1}) || m.Jobs == "" ||
			m.Jobs != reps[0].Manifest.Jobs ||
			m.Fabric != reps[0].Manifest.Fabric || m.Version == "" {
			t.Errorf("report %d: manifest of %q, seeds %v, jobs %q on %q; want those of %+v", i,
				m.Command, m.Seeds, m.Jobs,
				m.Fabric, reps[0].Manifest)
		}
		if at := slices.IndexFunc(m.Settings, func(s report.Setting) bool {
			return s.Flag == "policy"
		}); at < 0 || m.Settings[at].Value != "crosslayer+sunflow" {
			t.Errorf("report %d: the manifest does not hold the policy: %+v", i, m.Settings)
		}
		if strings.Contains(fmt.Sprint(m), "/run/") {
			t.Errorf("report %d: the manifest holds a place: %+v", i, m)
		}
	}
	sim, mn := reps[0].Policies[0], reps[2].Policies[0]
	if reps[2].Fabric.On != "mininet" || mn.BytesTotal != sim.BytesTotal || len(mn.Coflows) != 12 ||
		mn.Reconfigurations == 0 || mn.OCS == 0 || mn.EPS == 0 {
		t.Errorf("Mininet reports %s, %d bytes, %d coflows, %d circuits, %d bytes over light, %d over packets",
			reps[2].Fabric.On, mn.BytesTotal,
			len(mn.Coflows), mn.Reconfigurations, mn.OCS, mn.EPS)
	}
	if d := mn.QueueDepth; d == nil || d.Most < 1500 || d.Mean > d.Most ||
		!regexp.MustCompile(`^(tor|spine)\d:\d to (h\d-\d|tor\d|spine\d|ocs)$`).MatchString(d.Port) {
		t.Errorf("Mininet's switches tell of queues: %+v", d)
	}
	for i, r := range reps[1:] { // short coflows take the milliseconds that control takes; the longest must agree
		ratio := r.Policies[0].CCT.Max / sim.CCT.Max
		if ratio < 0.8 {
			t.Errorf("report %d: the longest coflow takes %.2f times what the simulator says", i+1, ratio)
		}
		if ratio > 2 {
			slow = fmt.Errorf("report %d: the longest coflow takes %.2f times what the simulator says", i+1, ratio)
		}
	}
	said := labtest.Output(t, append([]string{"compare", "--across", "fabrics"}, files...)...)
	if _, err := labtest.Try(t.Context(), "rerun", files[2]); err == nil ||
		!strings.Contains(err.Error(), "switches that ran by themselves (mininet)") {
		t.Errorf("a rerun of Mininet's report: %v", err)
	}
	for _, want := range []string{"on flowsim", "on netns", "on mininet", "crosslayer+sunflow (mininet)"} {
		if !strings.Contains(said, want) {
			t.Errorf("the comparison does not say %q:\n%s", want, said)
		}
	}
	return slow
}

// TestMininetAudit finds exchanged fibres under Mininet.
func TestMininetAudit(t *testing.T) {
	l := newLaboratory(t, false)
	l.measure(t, 4, func() error { // neighbours that have not heard each other within 2 s are not found
		out := l.mn("--custom lightloom.py --topo hybrid,3,1,swap=0-2 --switch loom --controller loom,replicas=1 --test "+
			"none --post script", "py net.get('c0').audit('--settle', '2s')")
		for _, want := range []string{"status 0", "left 0 processes, 0 directories"} {
			if !strings.Contains(out, want) {
				t.Errorf("want %q:\n%s", want, out)
			}
		}
		for _, want := range []string{"swapped: both fibres of ocs:0 and ocs:2 are in each other's place", "1 finding"} {
			if !strings.Contains(out, want) {
				return fmt.Errorf("the audit does not say %q:\n%s", want, out)
			}
		}
		return nil
	})
}

// TestMininetLate: the network is up once every switch is programmed, however late it started.
func TestMininetLate(t *testing.T) {
	l := newLaboratory(t, false)
	out := l.mn("--version; printf '#!/bin/sh\n[ $1 = switch ] && sleep 2\nexec /run/lightloom \"$@\"\n' > late; "+
		"chmod +x late; LIGHTLOOM=/run/late mn --custom lightloom.py --topo hybrid,2,1 --switch loom --controller "+
		"loom,replicas=1 --test pingall", "")
	for _, want := range []string{"0% dropped (2/2 received)", "status 0", "left 0 processes, 0 directories"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q:\n%s", want, out)
		}
	}
}

// TestMininetAgents runs jobs with an agent of its own on every host.
func TestMininetAgents(t *testing.T) {
	l := newLaboratory(t, false)
	out := l.mn("--custom lightloom.py --topo hybrid,2,2,nic=200,eps=50,ocs=200 --switch loom --controller "+
		"loom,jobs=6,speedup=2,agents=1 --test none --post script",
		"py net.get('c0').replayed()", "sh echo $(ls lightloom-mn-*/agent-*.sock | wc -l) agents")
	m := regexp.MustCompile(`replayed: 6 jobs, 6 coflows, (\d+) bytes of which (\d+) received`).FindStringSubmatch(out)
	if m == nil || m[1] != m[2] || m[1] == "0" {
		t.Errorf("want all bytes received once, got %q", m)
	}
	for _, want := range []string{"4 agents", "status 0", "left 0 processes, 0 directories"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// part is a part of Mininet's network that is killed, and what Mininet says then.
type part struct{ name, kill, dead string }

// TestMininetParts: whichever part is killed, the others continue, Mininet ends cleanly, and nothing is left. Parts of
// one network die one after another; the controller dies alone, because it reports when other parts die.
func TestMininetParts(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string][]part{
		"switches, an agent, a replica": {
			{"switch", "py net.get('spine1').process.popen.kill()", "dead ['spine1']"},
			{"optical switch", "py net.get('ocs').process.popen.kill()", "dead ['ocs', 'spine1']"},
			{"agent", "py net.get('c0').agent_processes[0].popen.kill()", "dead ['ocs', 'spine1']"},
			{"replica", "sh kill -9 $(pgrep -o -f '^/proc/self/exe [r]eplica') && echo killed a replica",
				"killed a replica"},
		},
		"controller": {{"controller", "py net.get('c0').process.popen.kill()", "dead []"}},
	} {
		t.Run(name, func(t *testing.T) { killParts(t, newLaboratory(t, false), parts) })
	}
}

// killParts has Mininet kill parts, with a ping to all after each.
func killParts(t *testing.T, l *laboratory, parts []part) {
	t.Helper()
	var commands []string
	for _, p := range parts {
		commands = append(commands, "sh echo ; echo '=== "+p.name+"'", p.kill, "sh sleep 1",
			"py 'dead ' + str(sorted(s.name for s in net.switches if not s.connected()))", "pingall")
	}
	out := l.mn("--custom lightloom.py --topo hybrid,2,1 --switch loom --controller loom,agents=1 --test none "+
		"--post script", commands...)
	for _, p := range parts {
		_, said, _ := strings.Cut(out, "=== "+p.name)
		said, _, _ = strings.Cut(said, "===")
		for _, want := range []string{p.dead, "0% dropped (2/2 received)"} {
			if !strings.Contains(said, want) {
				t.Errorf("%s: want %q", p.name, want)
			}
		}
	}
	for _, want := range []string{"status 0", "left 0 processes, 0 directories"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestMininetOwn converts a user's own topology to YAML and back, and runs the result.
func TestMininetOwn(t *testing.T) {
	l := newLaboratory(t, false)
	const own = `
from mininet.topo import Topo
class Mine(Topo):
    "Racks, a spine and light."
    def build(self, racks=2):
        spine, light = self.addSwitch('s9'), self.addSwitch('ocs1')
        for r in range(racks):
            tor = self.addSwitch('s%d' % (r + 1))
            self.addLink(self.addHost('a%d' % r), tor, bw=200)
            self.addLink(tor, spine, bw=40)
            self.addLink(tor, light, bw=100)
topos = {'mine': Mine}
`
	dir := t.TempDir()
	custom, yaml := filepath.Join(dir, "own.py"), filepath.Join(dir, "own.yaml")
	if err := os.WriteFile(custom, []byte(own), 0o600); err != nil {
		t.Fatal(err)
	}
	export := func(args ...string) string {
		out, err := exec.Command(filepath.Join(l.dir, "lightloom"),
			append([]string{"mininet", "export"}, args...)...).
			CombinedOutput()
		if err != nil && len(out) == 0 {
			t.Fatal(err)
		}
		return string(out)
	}
	if out := export(custom, "mine,3", yaml); out != "" {
		t.Fatal(out)
	}
	text, err := os.ReadFile(yaml)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"{name: ocs1, role: ocs}", "{name: s3, role: tor, rack: 2}",
		"{name: s9, role: switch}",
		"{ends: [s3, s9], ports: [1, 2], capacity: 40Mbps}"} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the YAML does not hold %s:\n%s", want, text)
		}
	}
	if out := export(custom, "yours", yaml); !strings.Contains(out,
		"there is no topology 'yours': it has mine") {
		t.Errorf("a topology that is not there: %s", out)
	}
	// mn takes the script's place for the file: there is nothing else that goes in.
	out := l.mn("--custom lightloom.py --topo file,script --switch loom --controller loom --test pingall",
		strings.TrimSpace(string(text)))
	if !strings.Contains(out, "the name does not tell the format") {
		t.Errorf("a file whose name tells no format: %s", out)
	}
	out = l.mn("--version; cp script own.yaml; mn --custom lightloom.py --topo file,own.yaml --switch loom --controller "+
		"loom,replicas=1 --test pingall", strings.TrimSpace(string(text)))
	for _, want := range []string{"0% dropped (6/6 received)",
		"hybrid:racks=3,hosts=1,spines=1,nic=200Mbps,eps=40Mbps,ocs=100Mbps", "left 0 processes, 0 directories"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q:\n%s", want, out)
		}
	}
}
