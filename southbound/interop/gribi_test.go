package interop

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	spb "github.com/openconfig/gribi/v1/proto/service"
	"github.com/openconfig/gribigo/server"
	fgnmi "github.com/openconfig/lemming/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
)

// TestGRIBI: our driver programs the reference server of gRIBI, which lemming and SONiC's server are
// made of, reads its entries back, replaces them, and keeps the rules of its conformance kit there.
func TestGRIBI(t *testing.T) {
	for _, profile := range []string{"openconfig-plain", "sonic"} {
		t.Run(profile, func(t *testing.T) { testGRIBI(t, profile) })
	}
}

func testGRIBI(t *testing.T, profile string) {
	tagged := map[string]string{"openconfig-plain": "TAG%d", "sonic": "Vrftag%d"}[profile]
	var instances []string
	for tag := range 8 {
		instances = append(instances, fmt.Sprintf(tagged, tag))
	}
	s, err := server.NewFake(server.WithVRFs(instances))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, _ := selfSigned(t, filepath.Join(dir, "ca.pem"))
	addr := serveBoth(t, cert, s)
	_, port, err := net.SplitHostPort(addr)
	if err != nil {
		t.Fatal(err)
	}
	x := dut{file: filepath.Join(dir, "lab.yaml")}
	text := fmt.Sprintf(`devices:
  - name: dut
    address: %q
    id: 1
    profile: %s
    ports: 4
    racks: 4
    tls: {ca: ca.pem, server-name: dut}
    flags: {trust-profile: true}
    gribi: {port: %s}
`, addr, profile, port)
	if err := os.WriteFile(x.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rules := func(text string, args ...string) {
		t.Helper()
		file := filepath.Join(dir, "rules")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out := x.rules(t, append([]string{"--apply", file}, args...)...)
		if got := x.rules(t); sortLines(got) != sortLines(text) {
			t.Errorf("read back:\n%swant:\n%s%s", got, text, out)
		}
	}
	backup := " backup=3"
	if profile == "sonic" {
		backup = ""
	}
	rules("dst=1 tag=any src=any primary=2\ndst=1 tag=3 src=any primary=1" + backup + "\n")
	rules("dst=1 tag=3 src=any primary=0\ndst=3 tag=any src=any primary=2\n", "--replace")

	out, err := run(t, lightloom(t), "target", "check", "dut", "--devices", x.file, "--profile",
		profile, "--write",
		"--ports", "4", "--racks", "4")
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "gribi-") && !strings.Contains(line, " held ") {
			t.Errorf("%s", line)
		}
	}
	if !strings.Contains(out, "gribi-persists") {
		t.Errorf("%v: %s", err, out)
	}
}

// serveBoth serves a lemming's gNMI and a server of gRIBI at one address.
func serveBoth(t *testing.T, cert tls.Certificate, rib spb.GRIBIServer) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{cert}})),
		grpc.ChainStreamInterceptor(fgnmi.NewSubscribeTargetUpdateInterceptor("dut")))
	if _, err := fgnmi.New(s, "dut", nil); err != nil {
		t.Fatal(err)
	}
	spb.RegisterGRIBIServer(s, rib)
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}
