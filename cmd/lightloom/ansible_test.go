package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// playbook is a run of Ansible in a folder with the collection, the program and the files of a lab.
type playbook struct {
	t   *testing.T
	lab *wireLab
	bin string
	env []string
}

// needAnsible skips a test, with the reason, where Ansible is not there, unless LIGHTLOOM_MUST names ansible.
func needAnsible(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("ansible-playbook"); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "ansible") {
			t.Fatalf("LIGHTLOOM_MUST names ansible: %v", err)
		}
		t.Skip("needs ansible-playbook: ", err)
	}
}

func newPlaybook(t *testing.T, profile string) *playbook {
	t.Helper()
	root := repository(t)
	l := newWireLabIn(t, t.TempDir(), profile)
	p := &playbook{t: t, lab: l, bin: filepath.Join(l.dir, "bin", "lightloom")}
	collection := filepath.Join(l.dir, "collections", "ansible_collections", "lightloom")
	if err := os.CopyFS(collection, os.DirFS(filepath.Join(root, "packaging", "ansible", "lightloom"))); err != nil {
		t.Fatal(err)
	}
	if err := putProgram(filepath.Dir(p.bin)); err != nil {
		t.Fatal(err)
	}
	p.env = append(os.Environ(), "ANSIBLE_COLLECTIONS_PATH="+filepath.Join(l.dir, "collections"), "HOME="+l.dir,
		"ANSIBLE_LOCALHOST_WARNING=0", "ANSIBLE_NOCOLOR=1", "ANSIBLE_PYTHON_INTERPRETER=auto_silent",
		"PATH="+filepath.Dir(p.bin)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return p
}

// ansibleResult is what Ansible says of a task.
var ansibleResult = regexp.MustCompile(`(?m)^(ok|changed|fatal): \[localhost\]`)

// play runs plays with these lines in one start of Ansible, which takes a second, and holds what it says of each task
// against what it must say.
func (p *playbook) play(results string, flags []string, plays ...string) string {
	p.t.Helper()
	text := ""
	for _, lines := range plays {
		text += "- hosts: localhost\n  connection: local\n  gather_facts: false\n" + lines
	}
	p.lab.put("play.yaml", text)
	c := exec.CommandContext(p.t.Context(), "ansible-playbook", append(flags, "play.yaml")...)
	c.Dir, c.Env = p.lab.dir, p.env
	out, err := c.CombinedOutput()
	var got []string
	for _, m := range ansibleResult.FindAllStringSubmatch(string(out), -1) {
		got = append(got, m[1])
	}
	if all := strings.Join(got, " "); all != results || err != nil != strings.Contains(results, "fatal") {
		p.t.Errorf("%v: tasks are %q, want %q:\n%s", err, all, results, out)
	}
	return string(out)
}

const wireModule = "lightloom.lab.wire: {devices: lab.yaml, links: t0.csv, switch_ports: switches.csv, tester_ports: " +
	"testers.csv, first_port: 1, testbed: t0, switch: ocs, holder: ann"

// TestAnsible: a play through the real ansible-playbook changes a switch once; check mode says what a run would do, and
// does nothing.
func TestAnsible(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	p := newPlaybook(t, "ocp")
	const once = "      check_mode: true\n"
	task := func(more string) string { return "    - " + wireModule + more + "}\n" }
	shows := func(want int) {
		t.Helper()
		got := string(output(t, "circuit", "import", "ocs", "--devices", filepath.Join(p.lab.dir, "lab.yaml")))
		if strings.Count(got, "\n") != want {
			t.Errorf("the switch has %q, want %d circuits", got, want)
		}
	}
	said := p.play("changed", []string{"--check", "--diff"}, "  tasks:\n"+task(""))
	if !strings.Contains(said, "+0>2") {
		t.Errorf("no difference in\n%s", said)
	}
	shows(0)
	if _, err := os.Stat(filepath.Join(p.lab.dir, "leases.json")); err == nil {
		t.Error("check mode took a lease")
	}
	p.play("changed ok ok changed", nil, "  tasks:\n"+task("")+task("")+task("")+once+task(", state: absent")+once)
	shows(4)
	said = p.play("changed ok fatal", nil, "  tasks:\n"+task(", state: absent")+task(", state: absent")+
		task(", state: verified"))
	shows(0)
	if !strings.Contains(said, "2 of 2 links not wired") {
		t.Errorf("%s", said)
	}
}

// TestAnsibleRole: the role wires the testbed of a file in YAML and checks it; a port that another testbed has is told.
func TestAnsibleRole(t *testing.T) {
	t.Parallel()
	needAnsible(t)
	p := newPlaybook(t, "ocp")
	p.lab.put("t2.yaml", "testbed: t2\nswitch: ocs\nports: {a: {x: 0, y: 1}, b: {x: 2}}\nlinks: [{from: a x, to: b x}]\n")
	const role = "  roles:\n    - {role: lightloom.lab.testbed, testbed_devices: lab.yaml, testbed_links: t2.yaml, " +
		"testbed_holder: ann}\n"
	p.play("changed", []string{"--check"}, role)
	said := p.play("changed ok ok ok fatal", nil, role, role, "  tasks:\n    - "+wireModule+"}\n")
	if !strings.Contains(said, `input 0 is of group \"t2\", held by ann until`) {
		t.Errorf("%s", said)
	}
}
