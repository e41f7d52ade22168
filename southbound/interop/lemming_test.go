package interop

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"maps"
	"math/big"
	mrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	fgnmi "github.com/openconfig/lemming/gnmi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
)

// serve runs the gNMI server of a lemming: its datastores, its validation against the generated schema, and its
// subscriptions. Its packets' way needs a C library, and is not built.
func serve(t *testing.T, cert tls.Certificate) string {
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

// dut is a lemming, and an inventory that leads to it.
type dut struct {
	file, addr string
	conn       *grpc.ClientConn
}

func startLemming(t *testing.T) dut {
	t.Helper()
	dir := t.TempDir()
	cert, pool := selfSigned(t, filepath.Join(dir, "ca.pem"))
	addr := serve(t, cert)
	conn, err := grpc.NewClient(addr, grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{RootCAs: pool,
		ServerName: "dut"})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	x := dut{file: filepath.Join(dir, "lab.yaml"), addr: addr, conn: conn}
	text := fmt.Sprintf(`devices:
  - name: dut
    address: %q
    id: 1
    profile: openconfig-plain
    ports: 4
    racks: 4
    tls: {ca: ca.pem, server-name: dut}
    flags: {trust-profile: true, read-config: true}
`, addr)
	if err := os.WriteFile(x.file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return x
}

// selfSigned makes a certificate for "dut" and writes it where it is trusted from.
func selfSigned(t *testing.T, file string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "dut"},
		DNSNames: []string{"dut"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// rules runs our binary's rules command on the dut.
func (x dut) rules(t *testing.T, args ...string) string {
	t.Helper()
	out, err := run(t, lightloom(t), append([]string{"device", "rules", "dut", "--devices",
		x.file}, args...)...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, out)
	}
	return out
}

// TestLemming: our driver programs policy forwarding and static routes into lemming, reads them back, and follows its
// interfaces.
func TestLemming(t *testing.T) {
	x := startLemming(t)
	file := filepath.Join(t.TempDir(), "rules")
	apply := func(text string, args ...string) string {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return x.rules(t, append([]string{"--apply", file}, args...)...)
	}
	const both = "dst=1 tag=any src=any primary=2\ndst=1 tag=3 src=any primary=1\ndst=2 tag=7 src=0 primary=3\n"
	apply(both)
	if got := x.rules(t); sortLines(got) != sortLines(both) {
		t.Errorf("read back:\n%swant:\n%s", got, both)
	}
	if got := apply(both); !strings.Contains(got, "nothing to do") {
		t.Errorf("once more: %s", got)
	}
	const other = "dst=1 tag=3 src=any primary=0\ndst=3 tag=any src=any primary=2\n"
	if got := apply(other, "--replace", "--dry-run"); !strings.Contains(got, "- dst=1 tag=any") {
		t.Errorf("dry run: %s", got)
	}
	apply(other, "--replace")
	if got := x.rules(t); sortLines(got) != sortLines(other) {
		t.Errorf("read back:\n%swant:\n%s", got, other)
	}

	watch := start(t, lightloom(t), "device", "watch", "dut", "--devices", x.file)
	watch.until(t, regexp.MustCompile("^synced"))
	x.state(t, "Ethernet2", "DOWN")
	watch.until(t, regexp.MustCompile("^port 2 down"))
	x.state(t, "Ethernet2", "UP")
	watch.until(t, regexp.MustCompile("^port 2 up"))
}

// TestLemmingShadow: over a seeded walk of changes, as a controller makes them of a spine, lemming takes every Set, and
// what Subscribe reads back is what a map has.
func TestLemmingShadow(t *testing.T) {
	x := startLemming(t)
	file, r, want := filepath.Join(t.TempDir(), "rules"), mrand.New(mrand.NewPCG(18, 5)), map[string]string{}
	for range 12 {
		var text strings.Builder
		args := []string{"--apply", file}
		if r.IntN(4) == 0 {
			args = append(args, "--replace")
			clear(want)
		}
		for range 1 + r.IntN(4) {
			match := fmt.Sprintf("dst=%d tag=%d src=any", r.IntN(4), r.IntN(8))
			if r.IntN(3) == 0 {
				match = fmt.Sprintf("dst=%d tag=any src=any", r.IntN(4))
			}
			if strings.Contains(text.String(), match) {
				continue
			}
			want[match] = fmt.Sprintf("%s primary=%d\n", match, r.IntN(4))
			text.WriteString(want[match])
		}
		if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		x.rules(t, args...)
		all := strings.Join(slices.Collect(maps.Values(want)), "")
		if got := x.rules(t); sortLines(got) != sortLines(all) {
			t.Fatalf("after\n%sread back:\n%swant:\n%s", text.String(), got, all)
		}
	}
}

// state has lemming say that of an interface, as its dataplane would.
func (x dut) state(t *testing.T, name, oper string) {
	t.Helper()
	at := []*gpb.PathElem{{Name: "interfaces"},
		{Name: "interface", Key: map[string]string{"name": name}}, {Name: "state"}}
	text := func(leaf, v string) *gpb.Update {
		return &gpb.Update{Path: &gpb.Path{Elem: append(at[:3:3], &gpb.PathElem{Name: leaf})},
			Val: &gpb.TypedValue{Value: &gpb.TypedValue_StringVal{StringVal: v}}}
	}
	ctx := metadata.AppendToOutgoingContext(t.Context(), fgnmi.GNMIModeMetadataKey, string(fgnmi.StateMode))
	req := &gpb.SetRequest{Prefix: &gpb.Path{Origin: "openconfig", Target: "dut"},
		Update: []*gpb.Update{text("name", name), text("oper-status", oper)}}
	if _, err := gpb.NewGNMIClient(x.conn).Set(ctx, req); err != nil {
		t.Fatal(err)
	}
}

// TestLemmingRefuses: a change that lemming's schema does not know is refused with an error.
func TestLemmingRefuses(t *testing.T) {
	x := startLemming(t)
	text, err := os.ReadFile(x.file)
	if err != nil {
		t.Fatal(err)
	}
	groups := strings.NewReplacer("openconfig-plain", "openconfig", "read-config: true", "send-role: false").
		Replace(string(text))
	if err := os.WriteFile(x.file, []byte(groups), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules")
	if err := os.WriteFile(file, []byte("dst=1 primary=2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, lightloom(t), "device", "rules", "dut", "--devices", x.file, "--apply", file)
	if err == nil || !strings.Contains(out, `device "dut"`) {
		t.Errorf("groups of static next hops were taken: %v\n%s", err, out)
	}
}
