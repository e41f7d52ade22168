package server

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// TestExampleFile: the annotated file of the documents is right, and shows every key that there is.
func TestExampleFile(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "examples", ReplicaFile))
	if err != nil {
		t.Fatal(err)
	}
	x, _, err := parseReplicaFile(ReplicaFile, text)
	if err != nil || len(x.Peers) != 3 || x.ID != "c0" || x.Lab != (LabWiring{"lab.yaml", "leases.json"}) {
		t.Fatalf("%+v, %v", x, err)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[replicaFile](), reflect.TypeFor[peerSite](),
		reflect.TypeFor[tlsFiles](), reflect.TypeFor[LabWiring]()} {
		for i := range typ.NumField() {
			if key := typ.Field(i).Tag.Get("yaml"); !strings.Contains(string(text), key+": ") {
				t.Errorf("it lacks %q", key)
			}
		}
	}
}

// TestPeers: replicas are named with the hosts that others reach them at.
func TestPeers(t *testing.T) {
	all, err := parsePeers([]string{"c0=192.0.2.1", "c1=ctl1.example.net:7000", "c2=[2001:db8::1]:9",
		"c3=[2001:db8::1]", "c4=2001:db8::2"})
	want := []peerSite{{"c0", "192.0.2.1:7400", "192.0.2.1:7420"},
		{"c1", "ctl1.example.net:7000", "ctl1.example.net:7020"}, {"c2", "[2001:db8::1]:9", "[2001:db8::1]:29"},
		{"c3", "[2001:db8::1]:7400", "[2001:db8::1]:7420"}, {"c4", "[2001:db8::2]:7400", "[2001:db8::2]:7420"}}
	if err != nil || !reflect.DeepEqual(all, want) {
		t.Errorf("%v, %v", all, err)
	}
	for _, words := range [][]string{{"c0"}, {"=192.0.2.1"}, {"c0="}, {"c0=h:x"}, {"c0=h:65530"},
		{"c0=h", "c1=i"},
		{"c0=0.0.0.0"}, {"c0=2001:db8::1:7400"}, {"c0=[2001:db8::1"}, {"c0=h", "c0=i", "c1=j"}, {"c0=h",
			"c1=h", "c2=i"}} {
		if got, err := parsePeers(words); err == nil {
			t.Errorf("%q was read as %v", words, got)
		}
	}
}

// TestFabricOfFile: a fabric that does not exist, that real packets cannot have, or that lacks its switches in the
// inventory is refused with what is wrong.
func TestFabricOfFile(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "devices.yaml")
	must(t, os.WriteFile(empty, []byte("devices: []\n"), 0o600))
	for fabric, says := range map[string]string{
		"ring:racks=2": "ring",
		"hybrid:racks=2,hosts=1,spines=1,wavelengths=2": "wavelengths",
		"hybrid:racks=2,hosts=1,spines=1":               "no devices",
		"leafspine:racks=2,hosts=1,spines=":             "spines",
	} {
		var c ReplicaConfig
		if err := c.fabric(fabric, empty); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want it to say %q", fabric, err, says)
		}
	}
}

func FuzzReplicaFile(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "examples", ReplicaFile))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		x, file, err := parseReplicaFile("f.yaml", text)
		if err == nil && (file == nil || x.self() < 0) || err != nil && x != nil {
			t.Error(x, err)
		}
	})
}

// TestMoreThreads: a service runs some threads at once on a machine of few cores, unless its environment says how
// many.
func TestMoreThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	t.Setenv("GOMAXPROCS", "2")
	if moreThreads(); runtime.GOMAXPROCS(0) != 2 {
		t.Errorf("%d threads, want those of the environment", runtime.GOMAXPROCS(0))
	}
	t.Setenv("GOMAXPROCS", "")
	if moreThreads(); runtime.GOMAXPROCS(0) != fewestThreads {
		t.Errorf("%d threads, want %d", runtime.GOMAXPROCS(0), fewestThreads)
	}
	runtime.GOMAXPROCS(2 * fewestThreads)
	if moreThreads(); runtime.GOMAXPROCS(0) != 2*fewestThreads {
		t.Errorf("%d threads, and there were more", runtime.GOMAXPROCS(0))
	}
}
