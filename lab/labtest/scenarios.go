package labtest

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/policy"
	"lightloom/controller/workload"
	"lightloom/lab/scenario"
	"lightloom/pathmap/topo"
)

// EndlessJobs is a file of jobs that run until they are cancelled or for their lifetime, beside one
// that ends, and two that are refused.
const EndlessJobs = `jobs:
- name: wordcount
  stages:
  - {name: spout, tasks: 2}
  - {name: bolt, tasks: 3, slots: 2}
  - {name: sink}
  streams:
  - {from: spout, to: bolt, grouping: fields, rate: 12Mbps}
  - {from: bolt, to: sink, rate: 6Mbps}
- name: mortal
  arrival: 500ms
  lifetime: 1500ms
  stages:
  - {name: spout, tasks: 2}
  - {name: sink, tasks: 2}
  streams:
  - {from: spout, to: sink, rate: 20Mbps}
- name: batch
  arrival: 200ms
  stages:
  - {name: map, tasks: 4, compute: 50ms}
  - {name: reduce, tasks: 2, compute: 50ms}
  edges:
  - {from: map, to: reduce, bytes: 2MB}
- name: giant
  stages:
  - {name: map, slots: 5}
- name: sinkless
  stages:
  - {name: spout}
  - {name: bolt}
  streams:
  - {from: spout, to: bolt, rate: 1Mbps}
  - {from: bolt, to: bolt, rate: 1Mbps}
  - {from: bolt, to: spout, rate: 1Mbps}
`

// WithFaults prepares a run with a file of faults.
func WithFaults(t *testing.T, fabric, policy, faults string,
	change func(*scenario.Options)) *scenario.Prepared {
	t.Helper()
	name := filepath.Join(t.TempDir(), "faults")
	if err := os.WriteFile(name, []byte(faults), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := scenario.Options{Fabric: fabric, Policies: []string{policy}, Seed: 1, Scale: 1,
		Speedup: 1, Coflows: 30,
		On: scenario.OnFlowsim, Replicas: 3, Faults: name}
	if change != nil {
		change(&opt)
	}
	s, err := scenario.Prepare(opt, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// FaultFabric is a small hybrid fabric whose links, switches and hosts can fail one by one.
const FaultFabric = "hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms,nic=500Mbps,slots=8"

// The document's two networks at 30 hosts, at rates that two cores carry.
const (
	FatTree30   = "fattree:k=6,hosts=30,rate=50Mbps,slots=8"
	Jellyfish30 = "jellyfish:switches=30,degree=4,hosts=30,rate=50Mbps,slots=8"
)

// FabricOf builds the fabric of a spec.
func FabricOf(t testing.TB, text string) *topo.Fabric {
	t.Helper()
	spec, err := topo.FromArgument(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// General is a run of few bare coflows on one of the fabrics.
func General(t *testing.T, text, policy string, coflows int, window time.Duration) *scenario.Prepared {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 4, Policies: []string{policy},
		Fabric: text, Scale: 1,
		Speedup: 1,
		Coflows: 1, On: scenario.OnNetns, Replicas: 3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if s.Jobs, err = workload.Bare(workload.BareOptions{Seed: 4, Coflows: coflows, Racks: s.Spec.Racks,
		HostsPerRack: s.Spec.Hosts,
		Link:         s.Spec.EPS, Window: window}); err != nil {
		t.Fatal(err)
	}
	scenario.FitHosts(s.Fabric, s.Jobs)
	return s
}

// Migrating prepares storms on a fabric with free slots; factor 0 disables migration.
func Migrating(t *testing.T, seed uint64, factor float64,
	change func(*scenario.Options)) *scenario.Prepared {
	t.Helper()
	opt := scenario.Options{Fabric: "leafspine:racks=4,hosts=2,spines=2,eps=50Mbps,nic=500Mbps,slots=8",
		Workload: "storm:jobs=8,rate=30/min", Policies: []string{"crosslayer"}, Parts: policy.Overrides{Migrate: factor},
		Seed: seed, Scale: 1, Speedup: 20, On: scenario.OnFlowsim, Replicas: 3}
	if change != nil {
		change(&opt)
	}
	s, err := scenario.Prepare(opt, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const facebookFile = "FB2010-1Hr-150-0.txt"

// BigSwitch is the fabric of the Facebook trace's peers: one switch with a port for each rack.
const BigSwitch = "crossbar:ports=150,rate=1Gbps"

// Repository returns the folder that holds go.mod.
func Repository(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the working directory")
	return ""
}

// FacebookTrace returns the path of the Facebook trace, or skips the test: the trace may not be distributed.
func FacebookTrace(t testing.TB) string {
	t.Helper()
	dir := cmp.Or(os.Getenv("LIGHTLOOM_DATA"), filepath.Join(Repository(t), "..", "shared", "data"))
	name := filepath.Join(dir, "coflow", facebookFile)
	if _, err := os.Stat(name); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "data") {
			t.Fatalf("LIGHTLOOM_MUST names data: %v", err)
		}
		t.Skipf("the Facebook trace is not here (set LIGHTLOOM_DATA to the directory that holds coflow/%s): %v", facebookFile,
			err)
	}
	return name
}
