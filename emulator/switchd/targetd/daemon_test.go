package targetd_test

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"
	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/emulator/device"
	"lightloom/emulator/switchd/targetd"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/noise"
	"lightloom/southbound/pki"
)

func TestMain(m *testing.M) {
	noise.Waiting(4)
	goleak.VerifyTestMain(m)
}

const ms = time.Millisecond

// start runs a target until the test ends, in plaintext, and returns a connection to it.
func start(t *testing.T, c targetd.Config) *grpc.ClientConn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- targetd.Run(ctx, l, c) }()
	conn, err := gnmi.Connect(gnmi.Config{Name: "sw", Addr: l.Addr().String(), Plaintext: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, conn.Close()); err != nil {
			t.Error(err)
		}
	})
	return conn
}

func config(profile string) targetd.Config {
	return targetd.Config{Profile: profile, Config: device.Config{Name: "sw", Ports: 8, Racks: 8,
		Delays: device.Delays{Apply: device.Fixed(ms), Dark: device.Fixed(5 * ms), Lock: device.Fixed(ms)}}}
}

// TestRulesHold: our own targets keep every rule.
func TestRulesHold(t *testing.T) {
	t.Parallel()
	for _, name := range targetd.Profiles() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := start(t, config(name))
			p, err := gnmi.Named(name, 8, 8)
			if err != nil {
				t.Fatal(err)
			}
			held := 0
			for _, f := range conformance.Run(t.Context(), conn, p, 8, conformance.Options{Write: true}) {
				if f.Result == conformance.Broken {
					t.Errorf("%s: %s", f.Rule, f.Why)
				}
				if f.Result == conformance.Held {
					held++
				}
			}
			if held < 12 {
				t.Errorf("only %d rules were tried", held)
			}
			seen, err := probe.Read(t.Context(), gpb.NewGNMIClient(conn), p)
			if err != nil || len(seen.Connections)+len(seen.Rules) > 0 {
				t.Errorf("the kit left %+v, %v", seen, err)
			}
			for _, f := range conformance.Run(t.Context(), conn, p, 8,
				conformance.Options{Sample: 20 * time.Millisecond}) {
				if strings.HasPrefix(f.Rule, "set-") && f.Result != conformance.Skipped {
					t.Errorf("%s was tried without leave to write", f.Rule)
				}
			}
		})
	}
}

// naive is a target that takes whatever it is sent and knows nothing.
type naive struct {
	gpb.UnimplementedGNMIServer
}

func (naive) Capabilities(context.Context, *gpb.CapabilityRequest) (*gpb.CapabilityResponse, error) {
	return &gpb.CapabilityResponse{GNMIVersion: "0.10.0",
		SupportedEncodings: []gpb.Encoding{gpb.Encoding_JSON_IETF}}, nil
}
func (naive) Set(context.Context, *gpb.SetRequest) (*gpb.SetResponse, error) {
	return &gpb.SetResponse{}, nil
}
func (naive) Get(context.Context, *gpb.GetRequest) (*gpb.GetResponse, error) {
	return &gpb.GetResponse{}, nil
}

// TestRulesBroken: a target that takes anything is found out.
func TestRulesBroken(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer()
	gpb.RegisterGNMIServer(s, naive{})
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	conn, err := gnmi.Connect(gnmi.Config{Name: "naive", Addr: l.Addr().String(), Plaintext: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		s.Stop()
		if err := errors.Join(<-done, conn.Close()); err != nil {
			t.Error(err)
		}
	}()
	broken := map[string]bool{}
	for _, f := range conformance.Run(t.Context(), conn, gnmi.OCP{Ports: 8}, 8,
		conformance.Options{Write: true, Timeout: 300 * ms}) {
		broken[f.Rule] = f.Result == conformance.Broken
	}
	for _, name := range []string{"capabilities", "get-unknown", "get-encoding", "once", "poll",
		"stream", "set-unknown",
		"set-malformed",
		"set-wrapped", "set-read-only", "set-whole", "arbitration", "circuit-made"} {
		if !broken[name] {
			t.Errorf("%s was not found to be broken", name)
		}
	}
}

func TestProbe(t *testing.T) {
	for name, want := range map[string]int32{"ocp": 8, "openconfig": 8, "sonic-ocs": 8,
		"srl-native": 8, "sonic": 8,
		"polatis": 0} {
		conn := start(t, config(name))
		r, err := probe.Ask(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Fits {
			if f.Profile == name && (!f.Fits || f.Ports != want || f.Why != "") {
				t.Errorf("%s: %+v", name, f)
			}
			if f.Profile != name && f.Fits && (name != "sonic-ocs" || f.Profile != "ocp") {
				t.Errorf("%s: %s fits", name, f.Profile)
			}
		}
		if best, err := r.Best(); err != nil || best.Profile == "ocp" &&
			best.Flags["cold-boot-recovery"] != "REMOVE" {
			t.Errorf("%s: %+v, %v", name, best, err)
		}
	}
}

// TestFaults: faults from a file strike at their instants, and others while the target runs.
func TestFaults(t *testing.T) {
	live, lines := io.Pipe()
	answers, tell := io.Pipe()
	defer live.Close()
	defer answers.Close()
	c := config("ocp")
	c.Live, c.Tell = live, tell
	var err error
	if c.Steps, err = device.ReadSteps("f", strings.NewReader("fail port=0 times=1\nloss port=1 db=3.5\n")); err != nil {
		t.Fatal(err)
	}
	conn := start(t, c)
	client, p := gpb.NewGNMIClient(conn), gnmi.OCP{Ports: 8}
	set := func(in, out southbound.Port) {
		req, err := p.NewWriter(nil).Encode(&southbound.Change{Connect: []southbound.CrossConnect{{In: in, Out: out}}})
		if err == nil {
			_, err = client.Set(t.Context(), req, grpc.WaitForReady(true))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	until := func(in southbound.Port, want southbound.Status) {
		t.Helper()
		tick, late := time.NewTicker(2*ms), time.After(time.Minute)
		defer tick.Stop()
		for {
			seen, err := probe.Read(t.Context(), client, p)
			for _, x := range seen.Connections {
				if x.In == in && x.Status == want {
					return
				}
			}
			select {
			case <-late:
				t.Fatalf("input %d never became %v: %+v, %v", in, want, seen, err)
			case <-tick.C:
			}
		}
	}
	say := func(line, want string) {
		t.Helper()
		if _, err := io.WriteString(lines, line+"\n"); err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 256)
		if n, err := answers.Read(b); err != nil || !strings.Contains(string(b[:n]), want) {
			t.Fatalf("%q was answered %q, %v", line, b[:n], err)
		}
	}
	set(0, 0)
	until(0, southbound.Failed)
	set(1, 1)
	until(1, southbound.Connected)
	resp, err := client.Get(t.Context(), &gpb.GetRequest{Encoding: gpb.Encoding_JSON_IETF,
		Path: []*gpb.Path{{Elem: []*gpb.PathElem{{Name: "components"},
			{Name: "component", Key: map[string]string{"name": "out1"}}, {Name: "ocp-ocs-port"}, {Name: "state"},
			{Name: "output-optical-power"}}}}})
	if err != nil || string(resp.GetNotification()[0].GetUpdate()[0].GetVal().GetJsonIetfVal()) != `"-5.00"` {
		t.Errorf("power: %v, %v", resp, err)
	}
	say("bend", "is unknown")
	say("deny times=1", "done")
	req, err := p.NewWriter(nil).Encode(&southbound.Change{Connect: []southbound.CrossConnect{{In: 2, Out: 2}}})
	if err == nil {
		_, err = client.Set(t.Context(), req)
	}
	if status.Code(err) != codes.Internal {
		t.Errorf("a denied Set: %v", err)
	}
	until(2, southbound.Connected)
	say("restart boot=20ms", "done")
	set2 := func() error {
		_, err := client.Set(t.Context(), &gpb.SetRequest{})
		return err
	}
	if err := set2(); err != nil && status.Code(err) != codes.Unavailable {
		t.Error(err)
	}
	if err := lines.Close(); err != nil {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "keys")
	a, made, err := targetd.Keys(dir, "ocs")
	if err != nil || !made || a.Role() != pki.Switch {
		t.Fatal(a, made, err)
	}
	if b, made, err := targetd.Keys(dir, "ocs"); err != nil || made || b.Name() != "ocs" {
		t.Errorf("again: %v, %v, %v", b, made, err)
	}
	client, err := pki.ReadFile(filepath.Join(dir, "client.pem"))
	if err != nil || client.Role() != pki.Controller {
		t.Errorf("%v, %v", client, err)
	}
	if err := os.Chmod(filepath.Join(dir, "server.pem"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := targetd.Keys(dir, "ocs"); err == nil {
		t.Error("a key that others may read was taken")
	}
}
