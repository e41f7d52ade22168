package up

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/api"
	"lightloom/controller/torus"
	"lightloom/emulator/fault"
	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/session"
)

// smallPod is four cubes of eight hosts on twelve optical switches.
const smallPod = "pod:cubes=4,side=2,spines=1,eps=50Mbps,ocs=200Mbps,dark=10ms"

// sliced asks for slices of the fabric that is up, as a user would.
type sliced struct{ *testing.T }

func (s sliced) options(out *bytes.Buffer) session.SliceOptions {
	return session.SliceOptions{Output: console.OutputJSON, Stdout: out}
}

func (s sliced) create(name string, shape torus.Shape, cubes ...int) error {
	var out bytes.Buffer
	return s.options(&out).CreateSlice(s.Context(), api.SliceRequest{Name: name, Shape: shape, Cubes: cubes},
		labtest.Hanging)
}

// until waits for a slice to be in a state.
func (s sliced) until(name string, state torus.State, reason torus.Reason) session.SliceStatus {
	s.Helper()
	for deadline := time.Now().Add(labtest.Hanging); ; {
		var out bytes.Buffer
		var all []session.SliceStatus
		if err := s.options(&out).ListSlices(s.Context()); err != nil {
			s.Fatal(err)
		}
		if err := json.Unmarshal(out.Bytes(), &all); err != nil {
			s.Fatal(err)
		}
		for _, x := range all {
			if x.Name == name && x.State == string(state) && x.Reason == string(reason) {
				return x
			}
		}
		if time.Now().After(deadline) {
			s.Fatalf("%s is not %s, %s: %+v", name, state, reason, all)
		}
	}
}

func (s sliced) strike(heal bool, kind fault.Kind, name string) {
	s.Helper()
	if err := session.Break(s.Context(), session.BreakOptions{Fault: fault.Fault{Kind: kind, Name: name}, Heal: heal,
		Stdout: &bytes.Buffer{}}); err != nil {
		s.Fatalf("%v %s: %v", kind, name, err)
	}
}

func (s sliced) ping(from, to string) bool {
	return exec.CommandContext(s.Context(), "/proc/self/exe", execCommand, from, "ping", "-c", "1", "-W", "1",
		to).Run() == nil
}

func (s sliced) reaches(from, to string) {
	s.Helper()
	for deadline := time.Now().Add(labtest.Hanging); !s.ping(from, to); {
		if time.Now().After(deadline) {
			s.Fatalf("%s does not reach %s", from, to)
		}
	}
}

// TestSlicesOnPackets: a slice of a pod of real packets becomes Ready, and packets cross its circuits, which nothing
// else joins once the only spine is dead. A switch that dies takes its own circuits alone, and a dead cube is swapped
// for a spare one while the circuits of another slice stand.
func TestSlicesOnPackets(t *testing.T) {
	if !labtest.Apart(t) {
		return
	}
	shared := labtest.UpNetns(t)
	if _, err := exec.LookPath("ping"); err != nil {
		t.Skipf("needs ping: %v", err)
	}
	startUp(t, smallPod)
	s := sliced{t}
	s.fibre(session.FibreOptions{Do: "swap", Switch: "ocs2", Ports: []int{6, 7}, Which: "both"})
	shared.Measure(t, 3, s.wrongFace) // neighbours that have not heard each other in time are not found
	s.fibre(session.FibreOptions{Do: "mend", Which: "both"})
	if err := s.create("a", torus.Box(2, 2, 4), 0, 1); err != nil {
		t.Fatal(err)
	}
	a := s.until("a", torus.Ready, torus.CircuitsLit)
	t.Logf("Ready after %v", time.Duration(a.Ready-a.Asked))
	if a.Circuits != 24 || a.Dark != 0 {
		t.Errorf("%d of %d circuits are dark", a.Dark, a.Circuits)
	}
	if err := s.create("b", torus.Box(2, 2, 2), 2); err != nil {
		t.Fatal(err)
	}
	err := s.create("none", torus.Box(2, 2, 10))
	if err == nil || !strings.Contains(err.Error(), "takes 5 cubes, and the pod has 4; nearest: 2x2x8") {
		t.Errorf("a shape that never fits: %v", err)
	}
	if err := s.create("a", torus.Box(2, 2, 2)); err == nil || !strings.Contains(err.Error(), "has that name") {
		t.Errorf("a name that is taken: %v", err)
	}

	s.strike(false, fault.Switch, "spine0")
	s.reaches("h0-0", "10.0.1.1")
	if s.ping("h0-0", "10.0.2.1") {
		t.Error("h0-0 reaches a cube that no slice joins to its own")
	}
	for _, ocs := range []string{"ocs0", "ocs8"} { // of dimension x, and the first of z, which the packets take
		s.strike(false, fault.Switch, ocs)
		x := s.until("a", torus.Incomplete, torus.SwitchAway)
		if x.Dark != 2 {
			t.Errorf("%s takes %d of %d circuits: %+v", ocs, x.Dark, x.Circuits, x)
		}
		s.reaches("h0-0", "10.0.1.1")
		s.strike(true, fault.Switch, ocs)
		s.until("a", torus.Ready, torus.CircuitsLit)
	}
	s.strike(true, fault.Switch, "spine0")

	s.strike(false, fault.Switch, "cube1")
	for s.until("a", torus.Ready, torus.CircuitsLit).Swaps == 0 {
		s.until("b", torus.Ready, torus.CircuitsLit)
	}
	s.reaches("h0-0", "10.0.3.1")
	var out bytes.Buffer
	if err := s.options(&out).DeleteSlice(t.Context(), "a"); err != nil {
		t.Error(err)
	}
	var exit *console.ExitError
	if err := s.options(&out).DeleteSlice(t.Context(), "a"); !errors.As(err, &exit) ||
		exit.Code != api.Unknown.ExitStatus() {
		t.Errorf("deleted again: %v", err)
	}
	s.jobOnSlice()
	out.Reset()
	var room session.Defragmented
	if err := s.options(&out).Defragment(t.Context(), torus.Box(2, 2, 4), false); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &room); err != nil || !room.Fits || room.Message != "there is room" {
		t.Errorf("%s, %v", out.String(), err)
	}
}

func (s sliced) fibre(do session.FibreOptions) {
	s.Helper()
	do.Stdout = &bytes.Buffer{}
	if err := session.Fibre(s.Context(), do); err != nil {
		s.Fatal(err)
	}
}

// wrongFace audits all optical switches: two faces of a cube are exchanged at one of them.
func (s sliced) wrongFace() error {
	var out bytes.Buffer
	err := session.AuditCabling(s.Context(), session.AuditOptions{Settle: 2500 * time.Millisecond,
		Output: console.OutputTable, Stdout: &out, Stderr: &bytes.Buffer{}})
	var exit *console.ExitError
	const want = "swapped: both fibres of ocs2:6 and ocs2:7 are in each other's place (cube3:13 (the lower x face of " +
		"cube3 at 1,0) is found at ocs2:7)\n192 fibres audited in "
	if !errors.As(err, &exit) || exit.Err != nil || !strings.Contains(out.String(), want) {
		return fmt.Errorf("the audit ends with %w:\n%s", err, out.String())
	}
	return nil
}

// jobOnSlice submits a job that asks for a slice, as its file says: all of its tasks run on the slice, which is made
// for it, and nothing is left of that once it has ended.
func (s sliced) jobOnSlice() {
	s.Helper()
	file := filepath.Join(s.TempDir(), "jobs.yaml")
	if err := os.WriteFile(file, []byte("jobs:\n  - name: train\n    slice: 2x2x4\n    stages:\n"+
		"      - {name: a, tasks: 16, compute: 20ms}\n      - {name: b, tasks: 16}\n"+
		"    edges:\n      - {from: a, to: b, bytes: 1MB}\n"), 0o600); err != nil {
		s.Fatal(err)
	}
	var b bytes.Buffer
	if err := session.Submit(s.Context(), session.SubmitOptions{File: file, Wait: true, Output: console.OutputTable,
		Stdout: &b, Stderr: &b}); err != nil || !strings.HasPrefix(b.String(), "job 0 (train) ended after ") {
		s.Fatalf("%q, %v", b.String(), err)
	}
	b.Reset()
	if err := session.ShowJobs(s.Context(), session.JobsOptions{Output: console.OutputJSON, Stdout: &b}); err != nil {
		s.Fatal(err)
	}
	var all []session.JobStatus
	if err := json.Unmarshal(b.Bytes(), &all); err != nil {
		s.Fatal(err)
	}
	cubes := map[string]bool{}
	for _, h := range all[0].Hosts {
		cubes[strings.Split(fmt.Sprint(h), "-")[0]] = true
	}
	if len(cubes) != 2 || len(all[0].Hosts) != 16 { // of the first 16 tasks of 32
		s.Errorf("%d hosts of the cubes %v", len(all[0].Hosts), cubes)
	}
	for deadline := time.Now().Add(labtest.Hanging); ; {
		b.Reset()
		var left []session.SliceStatus
		if err := s.options(&b).ListSlices(s.Context()); err != nil {
			s.Fatal(err)
		}
		if err := json.Unmarshal(b.Bytes(), &left); err != nil {
			s.Fatal(err)
		}
		if !slices.ContainsFunc(left, func(x session.SliceStatus) bool { return strings.HasPrefix(x.Name, "job-") }) {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("slices that are left: %+v", left)
		}
	}
}
