package interop

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// featureProfiles are OpenConfig's own tests of switches.
var featureProfiles = repository{name: "featureprofiles",
	source: "https://github.com/openconfig/featureprofiles",
	commit: "598f5a74455055640782b09b0f8502bb9c4cd4af", env: "LIGHTLOOM_FEATUREPROFILES"}

// lacking is why a test does not pass: what it needs and our switch has not, and what its output then says.
type lacking struct{ reason, says string }

// What our switch lacks: it forwards by rules of a policy, in one network instance.
var (
	noVRF      = lacking{"there is one network instance, of all ports", `child "interfaces": the model has no such path`}
	noShutdown = lacking{"a port cannot be disabled", "ports of this switch cannot be disabled: not supported"}
	noLAG      = lacking{"ports are not aggregated", `no such path (at "aggregation")`}
)

// features are the tests that such a switch can be held against, by package and name. One that lacks nothing passes.
// TestISISProtocol is not among them: it is of a router and a generator of traffic.
var features = map[string]map[string]lacking{
	"feature/gnmi/tests/system_gnmi_get_test":                 {"TestGNMIGet": {}},
	"feature/gnmi/subscribe/tests/gnmi_subscriptionlist_test": {"TestSingleSubscription": {}},
	"feature/gnmi/subscribe/tests/gnmi_sample_mode_test": {"TestGNMISampleMode": {},
		"TestNoInvalidValuesOnInterfaceFlap": noShutdown},
	"feature/gnmi/metadata/tests/large_set_consistency_test": {"TestLargeSetConsistency": {},
		"TestLargeMetadataConfigPush": {}},
	"feature/gnmi/tests/gnmi_set_test": {"TestGetSet": {}, "TestDeleteInterface": {}, "TestReuseIP": noLAG,
		"TestSwapIPs": {}, "TestDeleteNonExistingVRF": {}, "TestDeleteNonDefaultVRF": noVRF,
		"TestMoveInterface": noVRF, "TestStaticProtocol": noVRF},
}

// testbed is what featureprofiles' tests ask for, and binding what they get: one switch and two of its ports.
const (
	testbed = `duts { id: "dut" ports { id: "port1" } ports { id: "port2" } }` + "\n"
	binding = `duts {
  id: "dut" name: "localhost" vendor: OPENCONFIG hardware_model: "lightloom" software_version: "1"
  ports { id: "port1" name: "Ethernet0" } ports { id: "port2" name: "Ethernet1" }
  gnmi {
    target: "%s" mutual_tls: true trust_bundle_file: "%s/ca.pem"
    cert_file: "%[2]s/client.pem" key_file: "%[2]s/client.pem"
  }
}
`
)

// TestFeatureProfiles runs OpenConfig's tests of gNMI against a target. One that needs what our switch has not is
// skipped with that reason, after it has failed for it.
func TestFeatureProfiles(t *testing.T) {
	if os.Getenv(featureProfiles.env) == "" {
		t.Skipf("to build them takes minutes: set %s to %s, or to a clone of it", featureProfiles.env,
			featureProfiles.source)
	}
	lightloom(t) // built before any clock runs
	for pkg, tests := range features {
		t.Run(path.Base(pkg), func(t *testing.T) {
			program, err := featureProfiles.built(path.Base(pkg), "test", "-ldflags=-s -w", "-c", "./"+pkg)
			if err != nil {
				featureProfiles.skip(t, err)
			}
			for name, lacks := range tests {
				t.Run(name, func(t *testing.T) { feature(t, program, name, lacks) })
			}
		})
	}
}

func feature(t *testing.T, program, name string, lacks lacking) {
	dir := t.TempDir()
	x := startTarget(t, "openconfig", 4)
	file := func(name, text string) string {
		f := filepath.Join(dir, name)
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return f
	}
	out, err := run(t, program, "-test.v", "-test.run", "^"+name+"$", "-testbed", file("testbed", testbed),
		"-binding", file("binding", fmt.Sprintf(binding,
			strings.Replace(x.addr, "127.0.0.1", "localhost", 1), x.keys)))
	switch {
	case lacks.reason == "" && err != nil:
		t.Errorf("%v\n%s", err, out)
	case lacks.reason == "":
	case err == nil:
		t.Errorf("it passes now, and is said to lack: %s", lacks.reason)
	case !strings.Contains(out, lacks.says):
		t.Errorf("it is said to lack: %s; its output does not say %q:\n%s", lacks.reason, lacks.says, out)
	default:
		t.Skip(lacks.reason)
	}
}
