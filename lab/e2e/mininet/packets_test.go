package mininet

import (
	"regexp"
	"strings"
	"testing"
)

// TestMininetPackets: without an optical switch the network is a leaf-spine one under our controller, whose jobs use
// packets alone. Options of optical switches are refused.
func TestMininetPackets(t *testing.T) {
	l := newLaboratory(t, false)
	out := l.mn("--custom lightloom.py --topo hybrid,2,2,nic=200,eps=50,ocs=0 --switch loom --controller "+
		"loom,jobs=6,speedup=4,report=rep --test none --post script",
		"py net.get('c0').replayed()", "py 'switches ' + ' '.join(sorted(s.name for s in net.switches))", "pingall",
		"py net.get('c0').audit()",
		"sh grep -e bytes_ocs -e '\"reconfigurations' rep/report.json")
	m := regexp.MustCompile(`replayed: 6 jobs, 6 coflows, (\d+) bytes of which (\d+) received, .* 0 circuits`).
		FindStringSubmatch(out)
	if m == nil || m[1] != m[2] || m[1] == "0" {
		t.Errorf("want all bytes received once, over no circuit; got %q", m)
	}
	for _, want := range []string{"(leafspine:racks=2,hosts=2,spines=2", "switches spine0 spine1 tor0 tor1",
		"0% dropped (12/12 received)",
		"the fabric has no optical switch, whose fibres could be audited", `"bytes_ocs": 0,`, `"reconfigurations": 0,`,
		"status 0", "left 0 processes, 0 directories"} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q", want)
		}
	}
	if t.Failed() {
		t.Log(out)
	}
}

// TestMininetParents: jobs that read from each other, placed by Dawn over packets and circuits, and by PushBox.
func TestMininetParents(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"dawn+ecmp+sunflow", "pushbox+ecmp"} {
		t.Run(policy, func(t *testing.T) {
			l := newLaboratory(t, false)
			out := l.mn("--custom lightloom.py --topo hybrid,3,2,nic=200,eps=10,ocs=80,dark=1ms --switch loom --controller "+
				"loom,replicas=1,jobs=12,workload=dag:maps=6,speedup=10000,policy="+policy+" --test none --post script",
				"py net.get('c0').replayed()")
			m := regexp.MustCompile(`replayed: 12 jobs, \d+ coflows, (\d+) bytes of which (\d+) received, .* (\d+) circuits`).
				FindStringSubmatch(out)
			if m == nil || m[1] != m[2] || m[1] == "0" || (m[3] == "0") == strings.HasSuffix(policy, "sunflow") {
				t.Errorf("want all bytes received once, and circuits by sunflow alone; got %q", m)
			}
			if !strings.Contains(out, "status 0") || !strings.Contains(out, "left 0 processes, 0 directories") {
				t.Error("Mininet has not ended well, or left something")
			}
			if t.Failed() {
				t.Log(out)
			}
		})
	}
}
