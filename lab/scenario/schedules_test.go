package scenario

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestScheduleOfMissingPort: of several switches, a port that they do not have is refused.
func TestScheduleOfMissingPort(t *testing.T) {
	file := filepath.Join(t.TempDir(), "days")
	if err := os.WriteFile(file, []byte("ports 8\nday 90ms 0>1 ocs1:5>2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Prepare(Options{Fabric: "hybrid:racks=4,hosts=1,ocses=2",
		Policies: []string{"random+ecmp+schedule:" + file}, Coflows: 1, On: OnFlowsim, Seed: 1, Replicas: 1}, 1)
	if err == nil || !strings.Contains(err.Error(), "names port 5 of ocs1, and each optical switch of this fabric has "+
		"ports 0 to 3") {
		t.Errorf("%v", err)
	}
}

// TestScheduleOfMissingSwitch: a schedule that names a switch which is not there is refused, with what to write.
func TestScheduleOfMissingSwitch(t *testing.T) {
	file := filepath.Join(t.TempDir(), "days")
	if err := os.WriteFile(file, []byte("ports 4\nnight 10ms\nday 90ms 0>1 ocs2:1>0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for fabric, says := range map[string]string{
		"hybrid:racks=4,hosts=1,ocses=3": "",
		"hybrid:racks=4,hosts=1,ocses=2": "names ocs2, and this fabric has 2: ocs0 to ocs1",
		"hybrid:racks=4,hosts=1":         "names ocs2, and this fabric has 1: ocs0 to ocs0",
	} {
		_, err := Prepare(Options{Fabric: fabric, Policies: []string{"random+ecmp+schedule:" + file}, Coflows: 1,
			On: OnFlowsim, Seed: 1, Replicas: 1}, 1)
		if says == "" {
			if err != nil {
				t.Errorf("%s: %v", fabric, err)
			}
			continue
		}
		var hinted interface{ Hint() string }
		if err == nil || !strings.Contains(err.Error(), says) || !errors.As(err, &hinted) ||
			!strings.Contains(hinted.Hint(), "ocses=3") {
			t.Errorf("%s: %v", fabric, err)
		}
	}
}

// TestPodHasNoCircuitPolicy: circuits of a pod are those of its slices.
func TestPodHasNoCircuitPolicy(t *testing.T) {
	for policy, ok := range map[string]bool{"crosslayer": true, "crosslayer+sunflow": false, "joint": false} {
		_, err := Prepare(Options{Fabric: "pod:cubes=2", Policies: []string{policy}, Coflows: 1, On: OnFlowsim, Seed: 1,
			Replicas: 1}, 1)
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), "belong to its slices") {
			t.Errorf("%s: %v", policy, err)
		}
	}
}
